import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PickerBench } from '../../test/support/picker-bench.ts';
import { specOf } from '../../test/support/registry-bench.ts';
import { ReplicaHub } from '../../test/support/replica-hub.ts';
import { PickIds } from '../picker/pick-ids.ts';
import type { RequestEnd } from '../picker/request-end.ts';
import { createLog } from '../telemetry/log.ts';
import { renderMetrics } from '../telemetry/metrics.ts';
import { realTimers } from '../util/timers.ts';
import { Registry } from '../workers/registry.ts';
import { SharedLoads } from '../workers/shared-loads.ts';
import { Replicas } from './replicas.ts';

const W = 'http://10.0.0.1:8000';

class Member {
  readonly bench = new PickerBench();
  readonly loads = new SharedLoads();
  readonly registry = new Registry({ loads: this.loads, drainSettleMs: 60_000 });
  readonly channel;
  readonly replicas: Replicas;

  constructor(hub: ReplicaHub, name: string) {
    this.channel = hub.join(name);
    this.registry.add(specOf(W), 'flags');
    const { ends, metrics } = this.bench;
    this.replicas = new Replicas({
      ...{ channel: this.channel, loads: this.loads, ends, metrics, timers: realTimers },
      log: createLog({ level: 'error', json: true, destination: { write: () => undefined } }),
      clock: () => performance.now(),
    });
  }

  get worker() {
    return this.registry.current.byId(W)!;
  }

  /** A pick of this replica. */
  open(pickId: string): void {
    this.bench.ledger.open({
      ...{ pickId, worker: this.worker, loadKey: 'k', pinKey: null, model: 'm', endpoint: 'chat' },
      ...{ now: performance.now(), periodicLogMs: 10_000 },
    });
  }
}

const END: Omit<RequestEnd, 'pickId'> = {
  ...{ workerId: W, rank: null, servedAddress: '', status: 200, codeDetails: 'via_upstream', attempts: 1 },
  ...{ durationMs: 1, firstByteMs: 1, retriesUsedUp: false, clientGone: false, attemptsLogged: false },
};

describe('a process among several replicas', () => {
  const hub = new ReplicaHub();
  let a: Member;
  let b: Member;

  beforeEach(() => {
    vi.useFakeTimers();
    a = new Member(hub, '0000000a');
    b = new Member(hub, '0000000b');
    pass(1500);
  });
  afterEach(() => {
    for (const { replicas, registry } of [a, b]) {
      replicas.close();
      registry.close();
    }
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  function pass(ms: number): void {
    for (let i = 0; i < ms; i += 10) {
      vi.advanceTimersByTime(10);
      hub.deliver();
    }
  }

  it('sees the requests of the others, and releases its own when their ends reach another one', () => {
    const id = new PickIds(a.channel.self).make();
    a.open(id);
    pass(150);
    expect(b.worker.load).toMatchObject({ requests: 1, ownRequests: 0 });
    expect(b.worker.load.ofKey('k')).toBe(1);

    b.replicas.sink.ended({ ...END, pickId: id }, 0);
    pass(100);

    expect([a.bench.ledger.inFlight, a.bench.ledger.releases.end]).toEqual([0, 1]);
    expect([a.worker.load.requests, b.worker.load.requests]).toEqual([0, 0]);
    const answers = ({ bench }: Member): number => bench.metrics.upstreamResponses.cell('http', '200', '').value;
    expect([answers(a), answers(b)], 'counted once, by the owner').toEqual([1, 0]);
  });

  it('has no request released for want of log streams while another one has some', () => {
    b.replicas.sink.logStreamOpened();
    pass(1100);
    expect([a.replicas.logStreams, a.replicas.lastLogStreamClosedAt]).toEqual([1, null]);
    a.open('0000000a-0');
    const release = (): number => {
      const later = performance.now() + 45_000;
      return a.bench.ledger.sweep(later, a.replicas).log_gone;
    };
    expect(release()).toBe(0);

    b.replicas.sink.logStreamClosed();
    pass(1100);
    expect(a.replicas.lastLogStreamClosedAt).not.toBeNull();
    expect(release()).toBe(1);
  });

  it('waits with the removal of a worker for the requests of the others, but not of one that is silent', () => {
    b.open('0000000b-0');
    pass(150);
    expect(a.registry.remove(W)).toBe('draining');
    pass(1000);
    expect(a.registry.current.byId(W)?.status).toBe('draining');

    b.replicas.close();
    hub.kill('0000000b');
    pass(200);

    expect(a.registry.current.byId(W)).toBeUndefined();
  });

  it('tells its metrics of itself alone, and how many replicas there are', () => {
    const text = renderMetrics(a.bench.metrics);

    expect(text).toContain('smg_envoy_replicas 2');
    expect(text).toMatch(/smg_envoy_replica_share_age_seconds 0\.\d+/);
  });
});
