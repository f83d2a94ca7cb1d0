import { replicaOf } from '../picker/pick-ids.ts';
import type { FailedAttempt, RequestEnd } from '../picker/request-end.ts';
import type { RequestEnds } from '../picker/request-ends.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { decodeEntries, encodeEntries, type PassedEntry } from './end-messages.ts';
import type { Presence } from './load-sharing.ts';
import type { ReplicaChannel } from './replica-channel.ts';

/** What an access log tells, and who takes it in. */
export type EndSink = Pick<RequestEnds, 'ended' | 'attemptFailed' | 'alive' | 'logStreamOpened' | 'logStreamClosed'>;

export interface EndForwardingParts {
  readonly channel: ReplicaChannel;
  /** Takes in what is about picks of this replica, and what nobody else can take in. */
  readonly ends: EndSink;
  readonly presenceOf: (replica: string) => Presence;
  readonly metrics: Metrics;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
  /** Called when an entry waits for `flush`. */
  readonly onWaiting: () => void;
}

/** Entries that wait at most, for all replicas together. */
const MAX_WAITING = 10_000;
/** Entries of one message. */
const BATCH = 200;

/**
 * Passes access-log entries on to the replica that made their picks, where the entries of a request reach any replica
 * (decisions 23). What came from another replica is never passed on again.
 *
 * Entries wait while the way is down, and for a replica that could not be heard yet. Those of one that is gone are taken in
 * here: the pick is unknown, but the answer and the worker's breaker count.
 */
export class EndForwarding implements EndSink {
  readonly #parts: EndForwardingParts;
  readonly #unsubscribe: () => void;
  readonly #waiting = new Map<string, PassedEntry[]>();
  #count = 0;

  constructor(parts: EndForwardingParts) {
    this.#parts = parts;
    this.#unsubscribe = parts.channel.subscribe(topicOf(parts.channel.self), (text) => this.#receive(text));
  }

  /** Entries that wait to be sent. */
  get waiting(): number {
    return this.#count;
  }

  ended(end: RequestEnd, now: number): void {
    const owner = this.#otherOwner(end.pickId);
    // Attempts were told to the breakers of this replica alone: the owner has to judge by the end.
    if (owner === null) this.#parts.ends.ended(end, now);
    else this.#enqueue(owner, { kind: 'end', end: { ...end, attemptsLogged: false } });
  }

  attemptFailed(attempt: FailedAttempt): void {
    this.#parts.ends.attemptFailed(attempt);
  }

  alive(pickId: string, workerId: string, servedAddress: string, status: number, now: number): void {
    const owner = this.#otherOwner(pickId);
    if (owner === null) this.#parts.ends.alive(pickId, workerId, servedAddress, status, now);
    else this.#enqueue(owner, { kind: 'alive', alive: { pickId, workerId, servedAddress, status } });
  }

  logStreamOpened(): void {
    this.#parts.ends.logStreamOpened();
  }

  logStreamClosed(): void {
    this.#parts.ends.logStreamClosed();
  }

  /** Sends what waits. What cannot be sent waits on, unless its replica is gone. */
  flush(): void {
    for (const [owner, entries] of [...this.#waiting]) {
      const presence = this.#parts.presenceOf(owner);
      const done = presence === 'gone' ? entries.length : presence === 'alive' ? this.#send(owner, entries) : 0;
      const gone = entries.splice(0, done);
      this.#count -= done;
      if (entries.length === 0) this.#waiting.delete(owner);
      if (presence === 'gone') for (const entry of gone) this.#lose(entry);
    }
  }

  /** Tries once more. What cannot be sent is lost with this process. */
  close(): void {
    this.#unsubscribe();
    this.flush();
  }

  /** Null when the pick is this replica's, or nobody's. */
  #otherOwner(pickId: string): string | null {
    const owner = replicaOf(pickId);
    if (owner === '' || owner === this.#parts.channel.self) return null;
    return this.#parts.presenceOf(owner) === 'gone' ? null : owner;
  }

  #enqueue(owner: string, entry: PassedEntry): void {
    if (this.#count >= MAX_WAITING) {
      this.#lose(entry);
      return;
    }
    const entries = this.#waiting.get(owner);
    if (entries === undefined) this.#waiting.set(owner, [entry]);
    else entries.push(entry);
    this.#count += 1;
    this.#parts.onWaiting();
  }

  /** How many of them went out. */
  #send(owner: string, entries: readonly PassedEntry[]): number {
    const { channel, metrics } = this.#parts;
    let sent = 0;
    while (sent < entries.length) {
      const batch = entries.slice(sent, sent + BATCH);
      if (!channel.publish(topicOf(owner), encodeEntries(channel.self, batch))) break;
      metrics.passedEnds.cell('forwarded').value += batch.length;
      sent += batch.length;
    }
    return sent;
  }

  #lose(entry: PassedEntry): void {
    this.#parts.metrics.passedEnds.cell('lost').value += 1;
    this.#takeIn(entry);
  }

  #receive(text: string): void {
    const { metrics } = this.#parts;
    const entries = decodeEntries(text);
    if (entries === undefined) {
      metrics.passedEnds.cell('malformed').value += 1;
      return;
    }
    metrics.passedEnds.cell('received').value += entries.length;
    for (const entry of entries) this.#takeIn(entry);
  }

  #takeIn(entry: PassedEntry): void {
    const { ends, clock } = this.#parts;
    if (entry.kind === 'end') {
      ends.ended(entry.end, clock());
      return;
    }
    const { pickId, workerId, servedAddress, status } = entry.alive;
    ends.alive(pickId, workerId, servedAddress, status, clock());
  }
}

function topicOf(replica: string): string {
  return `ends:${replica}`;
}
