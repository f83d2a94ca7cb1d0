import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { SharedLoads } from '../workers/shared-loads.ts';
import { decodeLoadMessage, encodeLoadMessage, type LoadMessage, splitCounts } from './load-messages.ts';
import type { WorkerCounts } from './load-state.ts';
import { OwnLoads } from './own-loads.ts';
import { Peer } from './peer.ts';
import type { ReplicaChannel } from './replica-channel.ts';

export interface LoadSharingParts {
  readonly channel: ReplicaChannel;
  readonly loads: SharedLoads;
  /** Access-log streams that are open here. */
  readonly logStreams: () => number;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

/** `unsure`: not heard, and it is not long enough that one could be. */
export type Presence = 'alive' | 'unsure' | 'gone';

const TOPIC = 'loads';
/** Least time between two tellings of all changes. */
const TELL_MS = 50;
const BEAT_MS = 1000;
/** A replica that was not heard for this long counts no more. */
const SILENCE_MS = 3000;
/** Least time between two states that are sent, and between two questions to one replica. */
const STATE_MS = 1000;
/** More names than any deployment has: messages of others are not taken in. */
const MAX_PEERS = 256;

/**
 * Tells the other replicas how many requests this one has in flight on each worker, and adds what they tell to the shares of
 * the workers (decisions 23).
 *
 * Values are told as they are, not as differences, so that a lost message makes nothing wrong that the next one about the
 * same worker or key does not make right. Sequence numbers and totals show what was missed; then the state is asked for.
 */
export class LoadSharing {
  readonly #parts: LoadSharingParts;
  readonly #own: OwnLoads;
  readonly #peers = new Map<string, Peer>();
  readonly #unsubscribe: () => void;
  #seq = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #beatAt = Number.NEGATIVE_INFINITY;
  #stateAt = Number.NEGATIVE_INFINITY;
  /** Somebody has to be told everything. */
  #owesState = false;
  #lastLogStreamClosedAt: number | null = null;
  /** Since when every replica could be heard, as far as one can tell. */
  #hearingSince: number;

  constructor(parts: LoadSharingParts) {
    this.#parts = parts;
    this.#own = new OwnLoads(parts.loads);
    this.#hearingSince = parts.clock();
    this.#unsubscribe = parts.channel.subscribe(TOPIC, (text) => this.#receive(text));
    this.#send({ kind: 'ask', from: parts.channel.self, of: null });
  }

  /** Other replicas that are alive. */
  get others(): number {
    return this.#peers.size;
  }

  presenceOf(replica: string): Presence {
    if (this.#peers.has(replica)) return 'alive';
    return this.#parts.clock() - this.#hearingSince < SILENCE_MS ? 'unsure' : 'gone';
  }

  /** Access-log streams that are open at other replicas. */
  get logStreams(): number {
    let sum = 0;
    for (const { logStreams } of this.#peers.values()) sum += logStreams;
    return sum;
  }

  /** When one of those was last seen to be gone; null for never. */
  get lastLogStreamClosedAt(): number | null {
    return this.#lastLogStreamClosedAt;
  }

  /** Milliseconds since the word of the replica that was silent for longest; null without another one. */
  get oldestShareMs(): number | null {
    let oldest: number | null = null;
    for (const { heardAt } of this.#peers.values()) oldest = Math.max(oldest ?? 0, this.#parts.clock() - heardAt);
    return oldest;
  }

  /** Does what is due: changes, the sign of life, states that were asked for, shares of replicas that are silent. */
  tick(): void {
    const { loads, clock, channel } = this.#parts;
    const now = clock();
    for (const [name, { heardAt }] of this.#peers) if (now - heardAt >= SILENCE_MS) this.#drop(name, 'is silent');
    if (loads.hasChanges) {
      const all = now - this.#toldAt >= TELL_MS;
      if (all) this.#toldAt = now;
      this.#tell(all ? this.#own.takeAll() : this.#own.takeFalls());
    }
    if (this.#owesState && now - this.#stateAt >= STATE_MS) this.#tellState(now);
    if (now - this.#beatAt < BEAT_MS) return;
    this.#beatAt = now;
    loads.sweep();
    const { totals } = this.#own;
    this.#send({ kind: 'beat', from: channel.self, seq: this.#seq, logStreams: this.#parts.logStreams(), totals });
  }

  /** The others take the share of this replica back at once. */
  close(): void {
    this.#unsubscribe();
    this.#send({ kind: 'bye', from: this.#parts.channel.self });
    for (const peer of this.#peers.values()) peer.forget();
    this.#peers.clear();
  }

  #tell(changes: WorkerCounts[]): void {
    if (changes.length === 0) return;
    for (const workers of splitCounts(changes)) {
      this.#seq += 1;
      this.#send({ kind: 'changes', from: this.#parts.channel.self, seq: this.#seq, workers });
    }
  }

  #tellState(now: number): void {
    this.#stateAt = now;
    this.#owesState = false;
    const lists = splitCounts(this.#own.all());
    lists.forEach((workers, part) => {
      const { self } = this.#parts.channel;
      this.#send({ kind: 'state', from: self, seq: this.#seq, part, parts: lists.length, workers });
    });
  }

  #send(message: LoadMessage): void {
    const { channel, metrics, clock } = this.#parts;
    const sent = channel.publish(TOPIC, encodeLoadMessage(message));
    metrics.replicaMessages.cell(sent ? 'sent' : 'unsent').value += 1;
    if (!sent) this.#hearingSince = clock();
    // Who did not hear a change would have to ask for it.
    if (!sent && (message.kind === 'changes' || message.kind === 'state')) this.#owesState = true;
  }

  #receive(text: string): void {
    const { channel, metrics } = this.#parts;
    const message = decodeLoadMessage(text);
    if (message?.from === channel.self) return;
    const peer = message === undefined ? undefined : this.#peerOf(message);
    metrics.replicaMessages.cell(message === undefined ? 'malformed' : 'received').value += 1;
    if (message === undefined) return;
    if (message.kind === 'ask' && (message.of === null || message.of === channel.self)) this.#owesState = true;
    if (message.kind === 'bye') this.#drop(message.from, 'is gone');
    if (peer !== undefined) this.#hear(message, peer);
  }

  #hear(message: LoadMessage, peer: Peer): void {
    const streams = peer.logStreams;
    peer.heardAt = this.#parts.clock();
    if (message.kind === 'state') {
      if (peer.state(message)) peer.behind = false;
    } else if (message.kind === 'beat') {
      const inStep = peer.beat(message);
      if (peer.logStreams < streams) this.#lastLogStreamClosedAt = peer.heardAt;
      if (inStep) peer.behind = false;
      else this.#missed(message.from, peer);
    } else if (message.kind === 'changes' && !peer.changes(message)) this.#missed(message.from, peer);
  }

  #missed(name: string, peer: Peer): void {
    const { metrics, clock, channel } = this.#parts;
    if (!peer.behind) metrics.replicaMessages.cell('gap').value += 1;
    peer.behind = true;
    const now = clock();
    if (now - peer.askedAt < STATE_MS) return;
    peer.askedAt = now;
    this.#send({ kind: 'ask', from: channel.self, of: name });
  }

  /** Undefined for one that goes, or that nobody can tell from noise. */
  #peerOf({ kind, from }: LoadMessage): Peer | undefined {
    const known = this.#peers.get(from);
    if (known !== undefined || kind === 'bye' || this.#peers.size >= MAX_PEERS) return known;
    const { loads, clock, log } = this.#parts;
    const peer = new Peer((worker) => loads.of(worker).remote, clock());
    this.#peers.set(from, peer);
    log.info('another replica shares its counts', { peer: from });
    return peer;
  }

  #drop(name: string, reason: string): void {
    const peer = this.#peers.get(name);
    if (peer === undefined) return;
    peer.forget();
    this.#peers.delete(name);
    if (peer.logStreams > 0) this.#lastLogStreamClosedAt = this.#parts.clock();
    this.#parts.log.info('the counts of a replica are taken back', { peer: name, reason });
  }
}
