import { LoadSharing } from '../../src/replicas/load-sharing.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import type { LoadCounter } from '../../src/workers/load-counter.ts';
import { SharedLoads } from '../../src/workers/shared-loads.ts';
import { type ModelReplicaChannel, ReplicaHub } from './replica-hub.ts';

interface OpenRequest {
  readonly counter: LoadCounter;
  readonly key: string | null;
}

/** One replica that shares its loads, without timers. */
export class ModelReplica {
  readonly loads = new SharedLoads();
  readonly metrics = createMetrics();
  readonly channel: ModelReplicaChannel;
  readonly sharing: LoadSharing;
  readonly open: OpenRequest[] = [];
  logStreams = 0;
  readonly #counters = new Map<string, LoadCounter>();

  constructor(channel: ModelReplicaChannel, clock: () => number) {
    const { loads, metrics } = this;
    this.channel = channel;
    const log = createLog({ level: 'error', json: true, destination: { write: () => undefined } });
    this.sharing = new LoadSharing({ channel, loads, metrics, log, clock, logStreams: () => this.logStreams });
  }

  /** Counter of the present instance of a worker. */
  counter(worker: string): LoadCounter {
    const counter = this.#counters.get(worker) ?? this.loads.counterFor(worker);
    this.#counters.set(worker, counter);
    return counter;
  }

  begin(worker: string, key: string | null): void {
    const counter = this.counter(worker);
    counter.add(key);
    this.open.push({ counter, key });
  }

  /** Ends one of the open requests, by any number. */
  end(number: number): void {
    const [request] = this.open.splice(number % Math.max(1, this.open.length), 1);
    request?.counter.remove(request.key);
  }

  /** The worker comes back as another instance. */
  renew(worker: string): void {
    const before = this.counter(worker);
    this.loads.retired(worker, before);
    this.#counters.delete(worker);
    this.counter(worker);
  }

  events(event: 'sent' | 'unsent' | 'received' | 'malformed' | 'gap'): number {
    return this.metrics.replicaMessages.cell(event).value;
  }
}

/** Several replicas and their clock. */
export class ReplicaBench {
  readonly hub = new ReplicaHub();
  readonly replicas: ModelReplica[] = [];
  now = 0;
  #named = 0;

  /** @param name of one that it takes the place of */
  start(name = (++this.#named).toString(16).padStart(8, '0')): ModelReplica {
    const channel = this.hub.join(name);
    const replica = new ModelReplica(channel, () => this.now);
    this.replicas.push(replica);
    return replica;
  }

  /** Without a word. */
  kill(replica: ModelReplica): void {
    this.hub.kill(replica.channel.self);
    this.replicas.splice(this.replicas.indexOf(replica), 1);
  }

  /** Time passes, with a tick of every replica each 10 ms. */
  pass(ms: number): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now += 10;
      for (const { sharing } of this.replicas) sharing.tick();
      this.hub.deliver(this.now);
    }
  }
}
