import { LoadCounter } from './load-counter.ts';
import { PickQueue, type Queued } from './pick-queue.ts';
import type { Worker } from './worker.ts';

/** What goes on beside a request and ends with it at the latest. */
export interface Companion {
  /** The request counts no more. Called once. @param served its client has the whole answer of its worker */
  released(served: boolean): void;
}

/** Stands for the interval of a pick that no log entry is about: it was not dispatched yet, or ends with another one. */
export const NEVER_LOGGED = -1;

/** A pick that begins to count. */
export interface NewPick {
  readonly pickId: string;
  readonly worker: Worker;
  /** Key it counts under (sticky-sessions 2.6), null without one. */
  readonly loadKey: string | null;
  /** Key of its pin, null when the request is not sticky. */
  readonly pinKey: string | null;
  /** Canonical model id, `unknown` without one. */
  readonly model: string;
  /** Endpoint label of the request. */
  readonly endpoint: string;
  /** Milliseconds, monotonic. */
  readonly now: number;
  /** Interval of the periodic log entries that its Envoy promises, in milliseconds; 0 for none, or `NEVER_LOGGED`. */
  readonly periodicLogMs: number;
  readonly companion?: Companion | null;
}

/** What is known of a pick. */
export interface InFlightEntry {
  readonly pickId: string;
  /** The worker that was picked. */
  readonly worker: Worker;
  /** The worker it counts on: the picked one until a log entry names another. */
  readonly countsOn: Worker;
  readonly loadKey: string | null;
  readonly pinKey: string | null;
  readonly model: string;
  readonly endpoint: string;
  readonly openedAt: number;
  /** True once it counts no more. */
  readonly released: boolean;
  /** True once its worker's circuit breaker knows how it went. */
  readonly outcomeTold: boolean;
  readonly companion: Companion | null;
}

/** State of the access log streams, in the ledger's clock. */
export interface LogStreams {
  /** Streams open now. */
  readonly logStreams: number;
  /** When the last one closed; null when none ever did. */
  readonly lastLogStreamClosedAt: number | null;
}

/**
 * What told the end of a request (decisions 7): its access-log entry, the end of its stream, or one of the nets:
 * periodic entries that stopped for three intervals while a log stream lives, log streams gone for longer than the
 * grace period, an age above the request timeout plus a margin where no periodic entries are promised.
 */
export type ReleaseReason = 'end' | 'stream' | 'periodic_lost' | 'log_gone' | 'age';

/** Releases by reason. */
export type ReleaseCounts = Readonly<Record<ReleaseReason, number>>;

export interface LedgerOptions {
  /** `--request-timeout-secs`, in milliseconds. */
  readonly requestTimeoutMs?: number;
  /** Added to the request timeout before a pick counts as lost. */
  readonly marginMs?: number;
  /** How long the log streams may be away before their picks count as lost. */
  readonly graceMs?: number;
  /** How long the facts of a released pick are kept for a log entry still to come, and how many at most. */
  readonly keepMs?: number;
  readonly keepMax?: number;
  /** Finds the worker that a log entry names. */
  readonly workerById?: (id: string) => Worker | undefined;
}

const SILENT_INTERVALS = 3;

/** All fields set at birth, links included: one shape for every pick. */
class Entry implements InFlightEntry, Queued<Entry> {
  readonly pickId: string;
  readonly worker: Worker;
  countsOn: Worker;
  readonly loadKey: string | null;
  readonly pinKey: string | null;
  readonly model: string;
  readonly endpoint: string;
  readonly openedAt: number;
  readonly companion: Companion | null;
  queue: PickQueue<Entry>;
  lastSignAt: number;
  releasedAt = 0;
  released = false;
  outcomeTold = false;
  previous: Entry | null = null;
  next: Entry | null = null;

  constructor(pick: NewPick, now: number, queue: PickQueue<Entry>) {
    this.pickId = pick.pickId;
    this.worker = pick.worker;
    this.countsOn = pick.worker;
    this.loadKey = pick.loadKey;
    this.pinKey = pick.pinKey;
    this.model = pick.model;
    this.endpoint = pick.endpoint;
    this.companion = pick.companion ?? null;
    this.openedAt = now;
    this.lastSignAt = now;
    this.queue = queue;
  }
}

/**
 * Requests in flight, one entry per pick id, each counted on its worker instance and released exactly once (decisions
 * 7 and 23, field-lessons R46–R48).
 *
 * Picks that promise the same log interval stand in one queue, ordered by their last sign of life, so that a sweep
 * touches only what is due.
 */
export class InFlightLedger {
  readonly #requestTimeoutMs: number;
  readonly #graceMs: number;
  readonly #keepMs: number;
  readonly #keepMax: number;
  readonly #workerById: (id: string) => Worker | undefined;
  readonly #entries = new Map<string, Entry>();
  readonly #queues = new Map<number, PickQueue<Entry>>();
  readonly #kept = new PickQueue<Entry>();
  #now = 0;
  #opened = 0;
  readonly #releases = { end: 0, stream: 0, periodic_lost: 0, log_gone: 0, age: 0 };
  /** Since when a log stream has been seen alive without a gap; null while none is. */
  #streamsSince: number | null = null;

  constructor(options: LedgerOptions = {}) {
    this.#requestTimeoutMs = (options.requestTimeoutMs ?? 1_800_000) + (options.marginMs ?? 60_000);
    this.#graceMs = options.graceMs ?? 30_000;
    this.#keepMs = options.keepMs ?? 60_000;
    this.#keepMax = options.keepMax ?? 10_000;
    this.#workerById = options.workerById ?? (() => undefined);
  }

  /** Picks that count now. */
  get inFlight(): number {
    return this.#entries.size - this.#kept.size;
  }

  /** Released picks whose facts are kept for a log entry still to come. */
  get kept(): number {
    return this.#kept.size;
  }

  /** Picks opened since start. */
  get opened(): number {
    return this.#opened;
  }

  /** Releases since start. Their sum and `inFlight` make `opened`. */
  get releases(): ReleaseCounts {
    return this.#releases;
  }

  /** Counts a pick on its worker. An id that is open already is ended first. */
  open(pick: NewPick): void {
    const now = this.#advance(pick.now);
    if (this.#entries.has(pick.pickId)) this.end(pick.pickId, 'stream');
    const queue = this.#queueOf(pick.periodicLogMs);
    const entry = new Entry(pick, now, queue);
    LoadCounter.of(pick.worker.load).add(pick.loadKey);
    this.#entries.set(pick.pickId, entry);
    queue.append(entry);
    this.#opened += 1;
  }

  /** A pick that waited goes out to its worker now: from here on its log entries come as promised. */
  dispatched(pickId: string, now: number, periodicLogMs: number): void {
    const entry = this.#entries.get(pickId);
    if (entry === undefined || entry.released) return;
    entry.lastSignAt = this.#advance(now);
    entry.queue.remove(entry);
    entry.queue = this.#queueOf(periodicLogMs);
    entry.queue.append(entry);
  }

  /** The facts of a pick, counted or kept; undefined for an unknown one. */
  get(pickId: string): InFlightEntry | undefined {
    return this.#entries.get(pickId);
  }

  /** Stops counting a pick but keeps its facts for a while. False when there was nothing left to release. */
  release(pickId: string, reason: ReleaseReason = 'stream'): boolean {
    const entry = this.#entries.get(pickId);
    if (entry === undefined || entry.released) return false;
    this.#letGo(entry, reason);
    return true;
  }

  /** The pick's last word came: stops counting it, if it still counts, and forgets it. @param served as a companion hears it */
  end(pickId: string, reason: ReleaseReason = 'end', served = false): InFlightEntry | undefined {
    const entry = this.#entries.get(pickId);
    if (entry === undefined) return undefined;
    if (!entry.released) this.#letGo(entry, reason, served);
    // A full keep may have pushed it out already.
    if (this.#entries.delete(pickId)) this.#kept.remove(entry);
    return entry;
  }

  /** Marks that the breaker is told of this pick; false when it was already, or the pick is unknown. */
  tellOutcome(pickId: string): boolean {
    const entry = this.#entries.get(pickId);
    if (entry === undefined || entry.outcomeTold) return false;
    entry.outcomeTold = true;
    return true;
  }

  /**
   * A sign of life; false for an unknown pick. Where it names another worker than the one counted on (Envoy went on along the list), the count
   * moves there: an attempt's unit belongs to the worker that holds it (sticky-sessions 3.10).
   */
  alive(pickId: string, now: number, workerId = ''): boolean {
    const entry = this.#entries.get(pickId);
    if (entry === undefined) return false;
    if (entry.released) return true;
    entry.lastSignAt = this.#advance(now);
    entry.queue.remove(entry);
    entry.queue.append(entry);
    if (workerId !== '' && workerId !== entry.countsOn.id) this.#moveTo(entry, workerId);
    return true;
  }

  /** Releases what the nets of decisions 7 catch and drops kept facts that are old. To be called about once a second. */
  sweep(now: number, logs: LogStreams): ReleaseCounts {
    this.#advance(now);
    const streaming = logs.logStreams > 0;
    if (!streaming) this.#streamsSince = null;
    else this.#streamsSince ??= now;
    const closedAt = logs.lastLogStreamClosedAt;
    const gone = !streaming && (closedAt === null || now - closedAt > this.#graceMs);

    const before = { ...this.#releases };
    for (const [intervalMs, queue] of this.#queues) {
      // A pick made after the last stream closed may belong to a stream that Envoy opens with its first entry.
      if (gone && closedAt !== null && intervalMs !== NEVER_LOGGED) this.#releaseUpTo(queue, closedAt, 'log_gone');
      const silenceMs = SILENT_INTERVALS * intervalMs;
      if (intervalMs <= 0) this.#releaseUpTo(queue, now - this.#requestTimeoutMs, 'age');
      else if (gone) this.#releaseUpTo(queue, now - Math.max(silenceMs, this.#graceMs), 'log_gone');
      // Entries lost while no stream was open say nothing of their picks.
      else if (this.#streamsSince !== null && now - this.#streamsSince >= silenceMs) {
        this.#releaseUpTo(queue, now - silenceMs, 'periodic_lost');
      }
      if (queue.size === 0) this.#queues.delete(intervalMs);
    }
    this.#dropOld(now);
    return difference(this.#releases, before);
  }

  #queueOf(periodicLogMs: number): PickQueue<Entry> {
    let queue = this.#queues.get(periodicLogMs);
    if (queue === undefined) {
      queue = new PickQueue();
      this.#queues.set(periodicLogMs, queue);
    }
    return queue;
  }

  #advance(now: number): number {
    if (now > this.#now) this.#now = now;
    return this.#now;
  }

  /** Releases from the old end every pick whose last sign is not after `lastSignAt`. */
  #releaseUpTo(queue: PickQueue<Entry>, lastSignAt: number, reason: ReleaseReason): void {
    for (let head = queue.head; head !== null && head.lastSignAt <= lastSignAt; head = queue.head) {
      this.#letGo(head, reason);
    }
  }

  #moveTo(entry: Entry, workerId: string): void {
    const serving = this.#workerById(workerId);
    if (serving === undefined) return;
    LoadCounter.of(entry.countsOn.load).remove(entry.loadKey);
    LoadCounter.of(serving.load).add(entry.loadKey);
    entry.countsOn = serving;
  }

  #letGo(entry: Entry, reason: ReleaseReason, served = false): void {
    LoadCounter.of(entry.countsOn.load).remove(entry.loadKey);
    this.#releases[reason] += 1;
    entry.released = true;
    entry.releasedAt = this.#now;
    entry.queue.remove(entry);
    this.#kept.append(entry);
    if (this.#kept.size > this.#keepMax) this.#dropOldest();
    entry.companion?.released(served);
  }

  #dropOld(now: number): void {
    for (let head = this.#kept.head; head !== null && now - head.releasedAt >= this.#keepMs; head = this.#kept.head) {
      this.#dropOldest();
    }
  }

  #dropOldest(): void {
    const head = this.#kept.head;
    if (head === null) return;
    this.#kept.remove(head);
    this.#entries.delete(head.pickId);
  }
}

function difference(after: ReleaseCounts, before: ReleaseCounts): ReleaseCounts {
  return {
    end: after.end - before.end,
    stream: after.stream - before.stream,
    periodic_lost: after.periodic_lost - before.periodic_lost,
    log_gone: after.log_gone - before.log_gone,
    age: after.age - before.age,
  };
}
