import { describe, expect, it } from 'vitest';
import { ReplicaHub } from '../../test/support/replica-hub.ts';
import { PickIds } from '../picker/pick-ids.ts';
import type { RequestEnd } from '../picker/request-end.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { EndForwarding, type EndSink } from './end-forwarding.ts';
import type { Presence } from './load-sharing.ts';

const [A, B, C] = ['0000000a', '0000000b', '0000000c'] as const;

class Replica {
  readonly told: string[] = [];
  readonly ends: RequestEnd[] = [];
  readonly metrics = createMetrics();
  readonly presence = new Map<string, Presence>([A, B].map((name) => [name, 'alive']));
  readonly channel;
  readonly forwarding: EndForwarding;
  woken = 0;

  constructor(hub: ReplicaHub, name: string) {
    this.channel = hub.join(name);
    const sink: EndSink = {
      ended: (end, now) => {
        this.ends.push(end);
        this.told.push(`end ${end.pickId} ${now}`);
      },
      alive: (...facts) => void this.told.push(`alive ${facts.join(' ')}`),
      attemptFailed: ({ workerId }) => void this.told.push(`attempt ${workerId}`),
      logStreamOpened: () => void this.told.push('opened'),
      logStreamClosed: () => void this.told.push('closed'),
    };
    const { channel, metrics } = this;
    this.forwarding = new EndForwarding({
      ...{ channel, metrics, ends: sink },
      presenceOf: (replica) => this.presence.get(replica) ?? 'gone',
      clock: () => 7,
      onWaiting: () => {
        this.woken += 1;
      },
    });
  }

  count(event: 'forwarded' | 'received' | 'lost' | 'malformed'): number {
    return this.metrics.passedEnds.cell(event).value;
  }
}

function replicas() {
  const hub = new ReplicaHub();
  return { hub, a: new Replica(hub, A), b: new Replica(hub, B) };
}

function endOf(pickId: string, fields: Partial<RequestEnd> = {}): RequestEnd {
  return {
    ...{ pickId, workerId: 'w', rank: 3, servedAddress: '10.0.0.1:1', status: 200, codeDetails: 'via_upstream' },
    ...{ attempts: 2, durationMs: 12.5, firstByteMs: 3, retriesUsedUp: false, clientGone: true, attemptsLogged: false },
    ...fields,
  };
}

describe('an access-log entry', () => {
  it('of an own pick, and what names no pick, is taken in at once', () => {
    const { a } = replicas();
    const id = new PickIds(A).make();

    a.forwarding.ended(endOf(id), 1);
    a.forwarding.alive(id, 'w', 'x', 200, 2);
    a.forwarding.ended(endOf('foreign'), 3);
    a.forwarding.attemptFailed({ workerId: 'v', rank: null, address: '', status: 0, broken: true });
    a.forwarding.logStreamOpened();
    a.forwarding.logStreamClosed();

    expect(a.told).toEqual([`end ${id} 1`, `alive ${id} w x 200 2`, 'end foreign 3', 'attempt v', 'opened', 'closed']);
    expect([a.woken, a.channel.published.length]).toEqual([0, 0]);
  });

  it("of another replica's pick goes there, whole and in order, and is told to nobody else", () => {
    const { hub, a, b } = replicas();
    const ids = new PickIds(B);
    const [first, second] = [endOf(ids.make()), endOf(ids.make(), { rank: null, firstByteMs: -1 })];

    a.forwarding.alive(first.pickId, 'w', 'x', 200, 1);
    a.forwarding.ended(first, 2);
    a.forwarding.ended(second, 3);
    expect([a.woken > 0, a.forwarding.waiting]).toEqual([true, 3]);
    a.forwarding.flush();
    hub.deliver();

    expect(b.told).toEqual([`alive ${first.pickId} w x 200 7`, `end ${first.pickId} 7`, `end ${second.pickId} 7`]);
    expect(b.ends).toEqual([first, second]);
    expect([a.told, a.channel.published.length, a.forwarding.waiting]).toEqual([[], 1, 0]);
    expect([a.count('forwarded'), b.count('received')]).toEqual([3, 3]);
  });

  it('says to the owner that the attempts were told elsewhere', () => {
    const { hub, a, b } = replicas();

    a.forwarding.ended(endOf(new PickIds(B).make(), { attemptsLogged: true }), 1);
    a.forwarding.flush();
    hub.deliver();

    expect(b.ends[0]?.attemptsLogged).toBe(false);
  });

  it('of a replica that nobody has is taken in here', () => {
    const { a } = replicas();
    const id = new PickIds(C).make();

    a.forwarding.ended(endOf(id), 1);

    expect(a.told).toEqual([`end ${id} 1`]);
    expect([a.count('lost'), a.forwarding.waiting]).toEqual([0, 0]);
  });

  it('is never passed on twice, even when it comes to the wrong replica', () => {
    const { hub, a, b } = replicas();
    a.presence.set(C, 'alive');
    b.presence.set(C, 'alive');
    const id = new PickIds(C).make();
    a.forwarding.ended(endOf(id), 1);
    a.forwarding.flush();
    const [text] = a.channel.published;
    a.channel.publish(`ends:${B}`, text!);
    hub.deliver();

    expect([b.told, b.channel.published]).toEqual([[`end ${id} 7`], []]);
  });

  it('waits while the way is down, and while its replica may still be heard', () => {
    const { hub, a, b } = replicas();
    const id = new PickIds(B).make();
    a.channel.cut = true;
    a.forwarding.ended(endOf(id), 1);
    a.forwarding.flush();
    a.presence.set(B, 'unsure');
    a.channel.cut = false;
    a.forwarding.flush();
    expect(a.forwarding.waiting).toBe(1);

    a.presence.set(B, 'alive');
    a.forwarding.flush();
    hub.deliver();

    expect([b.told, a.told, a.count('lost')]).toEqual([[`end ${id} 7`], [], 0]);
  });

  it('that waits for a replica that is gone is taken in here, and counted as lost', () => {
    const { a } = replicas();
    const id = new PickIds(B).make();
    a.channel.cut = true;
    a.forwarding.ended(endOf(id), 1);
    a.forwarding.flush();

    a.presence.set(B, 'gone');
    a.forwarding.flush();

    expect([a.told, a.count('lost'), a.forwarding.waiting]).toEqual([[`end ${id} 7`], 1, 0]);
  });

  it('beyond the bound of those that wait is taken in here', () => {
    const { a } = replicas();
    a.channel.cut = true;
    const ids = new PickIds(B);

    for (let i = 0; i < 10_003; i++) a.forwarding.ended(endOf(ids.make()), 1);

    expect([a.forwarding.waiting, a.told.length, a.count('lost')]).toEqual([10_000, 3, 3]);
  });

  it('that is none is counted', () => {
    const { hub, a, b } = replicas();

    a.channel.publish(`ends:${B}`, '["0000000a",["e"]]');
    hub.deliver();

    expect([b.count('malformed'), b.told]).toEqual([1, []]);
  });
});
