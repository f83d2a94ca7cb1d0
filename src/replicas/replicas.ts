import type { RequestEnds } from '../picker/request-ends.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Timers } from '../util/timers.ts';
import type { LogStreams } from '../workers/in-flight-ledger.ts';
import type { SharedLoads } from '../workers/shared-loads.ts';
import { EndForwarding, type EndSink } from './end-forwarding.ts';
import { LoadSharing } from './load-sharing.ts';
import type { ReplicaChannel } from './replica-channel.ts';

export interface ReplicasParts {
  readonly channel: ReplicaChannel;
  /** The table that the registry has its counters from. */
  readonly loads: SharedLoads;
  readonly ends: RequestEnds;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly timers: Timers;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

/** Between looks at what is due when nothing changes: signs of life, silent replicas, entries that could not be sent. */
const LOOK_MS = 250;
/** From a change to its telling, which may take in others. */
const GATHER_MS = 10;
/** From an access-log entry of another replica's pick to its message. */
const BATCH_MS = 1;

/**
 * This process as one of several replicas: their requests in flight count here, and each gets the access-log entries of its own
 * picks (decisions 23). Owner of the timers.
 */
export class Replicas implements LogStreams {
  readonly #ends: RequestEnds;
  readonly #sharing: LoadSharing;
  readonly #forwarding: EndForwarding;
  readonly #loads: SharedLoads;
  readonly #timers: Timers;
  #endLook: () => void = () => undefined;
  /** Null while nothing waits to be told, or passed on. */
  #endTelling: (() => void) | null = null;
  #endPassing: (() => void) | null = null;
  #closed = false;

  constructor(parts: ReplicasParts) {
    const { channel, loads, ends, metrics, clock } = parts;
    this.#ends = ends;
    this.#loads = loads;
    this.#timers = parts.timers;
    this.#sharing = new LoadSharing({ ...parts, logStreams: () => ends.logStreams });
    this.#forwarding = new EndForwarding({
      ...{ channel, ends, metrics, clock },
      presenceOf: (replica) => this.#sharing.presenceOf(replica),
      onWaiting: () => this.#passSoon(),
    });
    loads.onChange = () => this.#tellSoon();
    this.#look();
    if (loads.hasChanges) this.#tellSoon();
    metrics.replicas.onScrape(() => {
      metrics.replicas.cell().value = this.#sharing.others + 1;
    });
    metrics.replicaShareAge.onScrape(() => {
      const age = this.#sharing.oldestShareMs;
      metrics.replicaShareAge.cell().value = age === null ? -1 : age / 1000;
    });
  }

  /** Where the access log tells what it hears. */
  get sink(): EndSink {
    return this.#forwarding;
  }

  /** Access-log streams that are open, here or at a replica that passes entries on. */
  get logStreams(): number {
    return this.#ends.logStreams + this.#sharing.logStreams;
  }

  get lastLogStreamClosedAt(): number | null {
    const own = this.#ends.lastLogStreamClosedAt;
    const others = this.#sharing.lastLogStreamClosedAt;
    return own === null || others === null ? (own ?? others) : Math.max(own, others);
  }

  /** To be called before the channel closes: the others are told. */
  close(): void {
    this.#closed = true;
    this.#loads.onChange = () => undefined;
    this.#endLook();
    this.#endTelling?.();
    this.#endPassing?.();
    this.#forwarding.close();
    this.#sharing.close();
  }

  #look(): void {
    this.#sharing.tick();
    this.#forwarding.flush();
    // What others said while this process was busy is heard before they count as silent.
    this.#endLook = this.#timers.afterReading(LOOK_MS, () => this.#look());
  }

  #tellSoon(): void {
    if (this.#closed) return;
    this.#endTelling ??= this.#timers.afterReading(GATHER_MS, () => {
      this.#endTelling = null;
      this.#sharing.tick();
      if (this.#loads.hasChanges) this.#tellSoon();
    });
  }

  #passSoon(): void {
    if (this.#closed) return;
    this.#endPassing ??= this.#timers.after(BATCH_MS, () => {
      this.#endPassing = null;
      this.#forwarding.flush();
    });
  }
}
