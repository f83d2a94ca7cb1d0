/**
 * The latest decisions, for people who ask why. While nobody asks, a decision costs one comparison. While somebody does,
 * the decision itself is kept and a few numbers beside it, in arrays made once; text is made of them when they are read.
 *
 * What is kept outlives its request, which costs the garbage collector about a microsecond. So of more than a ring full in
 * a quarter of a second, which nobody could read anyway, every so many are kept.
 */
import type { Decision, Outcome } from '../routing/decision.ts';
import { keyHash } from '../telemetry/key-hash.ts';
import { PASS_REASONS, type PassReason, type RefusalCode } from '../telemetry/own-metrics.ts';
import type { DecisionWatch } from './decision-watch.ts';

/** `auto`: from the first time somebody looks until nobody has for a while. */
export const RING_MODES = ['auto', 'on', 'off'] as const;
export type RingMode = (typeof RING_MODES)[number];

/** One request in the ring. */
export interface RecordedDecision {
  /** Number of the request since this process recorded first; the handle for going on from here. */
  readonly seq: number;
  /** When it was read: milliseconds since the epoch. */
  readonly at: number;
  readonly tookMs: number;
  readonly fromBody: boolean;
  /** Empty where nothing was picked. */
  readonly pickId: string;
  /** Null for a request that never came to routing. */
  readonly outcome: Outcome | null;
  /** Why it did not come to routing, or got no pick; null where `outcome` tells. */
  readonly why: RefusalCode | PassReason | null;
  /** Stands for its key (`keyHash`), null without one. Made when it is first asked for. */
  readonly keyHash: string | null;
}

export interface DecisionRingOptions {
  readonly mode: RingMode;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

/** How many are kept. A power of two. */
export const RING_SIZE = 1024;
/** At most a ring full of decisions is kept in this time. */
const WINDOW_MS = 250;
/** `auto` goes on for as long after the last look. */
export const LINGER_MS = 15 * 60_000;
/** Longest text of a client that is kept: a model's name, or a key of `manual` or of the ring, can have any length. */
const LONGEST_TEXT = 1024;

export class DecisionRing implements DecisionWatch {
  readonly #clock: () => number;
  readonly #wallClock: () => number;
  #mode: RingMode;
  /** Records what begins before; minus infinity while it is asleep. */
  #until = Number.NEGATIVE_INFINITY;
  #since: number | null = null;
  #next = 0;
  #oldest = 0;

  // Of decisions every so many are kept.
  #windowEnd = Number.NEGATIVE_INFINITY;
  #inWindow = 0;
  #stride = 1;
  #untilKept = 1;
  #leftOut = 0;

  // Columns, made with the first look.
  #outcomes: (Outcome | null)[] = [];
  #whys: (RefusalCode | PassReason | null)[] = [];
  #pickIds: string[] = [];
  #hashes: (string | null | undefined)[] = [];
  #startedAt = new Float64Array(0);
  #tookMs = new Float64Array(0);
  #fromBody = new Uint8Array(0);

  constructor({ mode, clock, wallClock }: DecisionRingOptions) {
    this.#clock = clock;
    this.#wallClock = wallClock;
    this.#mode = mode;
    this.configure(mode);
  }

  get mode(): RingMode {
    return this.#mode;
  }

  /** Since when every request is recorded: milliseconds since the epoch, null while none is. */
  get since(): number | null {
    return this.#recording ? this.#since : null;
  }

  /** `seq` of the next record. */
  get next(): number {
    return this.#next;
  }

  /** `seq` of the oldest record that is still there; `next` when there is none. */
  get oldest(): number {
    return Math.max(this.#oldest, this.#next - RING_SIZE);
  }

  /** Placed requests that were not kept because there were too many at a time. A refusal, which one looks for, always is. */
  get leftOut(): number {
    return this.#leftOut;
  }

  configure(mode: RingMode): void {
    this.#mode = mode;
    if (mode === 'on') this.#wakeUntil(Number.POSITIVE_INFINITY);
    else if (mode === 'off') this.#until = Number.NEGATIVE_INFINITY;
    else if (this.#until === Number.POSITIVE_INFINITY) this.#until = this.#clock() + LINGER_MS;
  }

  /** Somebody looks: under `auto` it records from now on. */
  wake(): void {
    if (this.#mode === 'auto') this.#wakeUntil(this.#clock() + LINGER_MS);
  }

  decided(pickId: string, outcome: Outcome, fromBody: boolean, startedAt: number): void {
    if (startedAt > this.#until) return;
    if (startedAt >= this.#windowEnd) this.#beginWindow(startedAt);
    this.#inWindow += 1;
    this.#untilKept -= 1;
    if (this.#untilKept <= 0) this.#untilKept = this.#stride;
    else if (outcome.kind === 'placed') {
      this.#leftOut += 1;
      return;
    }
    this.#write(pickId, bounded(outcome), null, fromBody, startedAt);
  }

  undecided(why: RefusalCode | PassReason, fromBody: boolean, startedAt: number): void {
    if (startedAt > this.#until) return;
    this.#write('', null, why, fromBody, startedAt);
  }

  /** The record of that number; null when it is not there any more, or not yet. */
  at(seq: number): RecordedDecision | null {
    if (seq < this.oldest || seq >= this.#next) return null;
    const slot = seq % RING_SIZE;
    const startedAt = this.#startedAt[slot] ?? 0;
    const hashOf = (): string | null => (this.at(seq) === null ? null : this.#hashAt(slot));
    return {
      seq,
      at: this.#wallClock() - (this.#clock() - startedAt),
      tookMs: this.#tookMs[slot] ?? 0,
      fromBody: this.#fromBody[slot] === 1,
      pickId: this.#pickIds[slot] ?? '',
      outcome: this.#outcomes[slot] ?? null,
      why: this.#whys[slot] ?? null,
      get keyHash() {
        return hashOf();
      },
    };
  }

  /** As many as came lately are expected to come. A burst after a lull is kept whole, and overwrites itself. */
  #beginWindow(now: number): void {
    const lately = now < this.#windowEnd + WINDOW_MS ? this.#inWindow : 0;
    this.#windowEnd = now + WINDOW_MS;
    this.#inWindow = 0;
    this.#stride = Math.max(1, Math.ceil(lately / RING_SIZE));
    this.#untilKept = Math.min(this.#untilKept, this.#stride);
  }

  get #recording(): boolean {
    return this.#clock() <= this.#until;
  }

  #wakeUntil(until: number): void {
    if (!this.#recording) {
      this.#since = this.#wallClock();
      // What was recorded before the pause would seem to be the latest.
      this.#oldest = this.#next;
      if (this.#startedAt.length === 0) this.#allocate();
    }
    this.#until = until;
  }

  #allocate(): void {
    this.#outcomes = new Array<Outcome | null>(RING_SIZE).fill(null);
    this.#whys = new Array<RefusalCode | PassReason | null>(RING_SIZE).fill(null);
    this.#pickIds = new Array<string>(RING_SIZE).fill('');
    this.#hashes = new Array<string | null | undefined>(RING_SIZE).fill(undefined);
    this.#startedAt = new Float64Array(RING_SIZE);
    this.#tookMs = new Float64Array(RING_SIZE);
    this.#fromBody = new Uint8Array(RING_SIZE);
  }

  #write(
    pickId: string,
    outcome: Outcome | null,
    why: RefusalCode | PassReason | null,
    fromBody: boolean,
    startedAt: number,
  ): void {
    const slot = this.#next % RING_SIZE;
    this.#next += 1;
    this.#outcomes[slot] = outcome;
    this.#whys[slot] = why;
    this.#pickIds[slot] = pickId;
    this.#hashes[slot] = undefined;
    this.#startedAt[slot] = startedAt;
    this.#tookMs[slot] = this.#clock() - startedAt;
    this.#fromBody[slot] = fromBody ? 1 : 0;
  }

  /** Made once for all who read. */
  #hashAt(slot: number): string | null {
    const known = this.#hashes[slot];
    if (known !== undefined) return known;
    const outcome = this.#outcomes[slot] ?? null;
    const key = outcome === null || outcome.kind === 'refused' ? null : outcome.loadKey;
    const made = key === null ? null : keyHash(key);
    this.#hashes[slot] = made;
    return made;
  }
}

const passReasons: ReadonlySet<string> = new Set(PASS_REASONS);

/** Whether Envoy went on without a pick; else the request was refused. */
export function isPass(why: RefusalCode | PassReason): why is PassReason {
  return passReasons.has(why);
}

/** A decision that does not keep the long text of a client alive. */
function bounded(outcome: Outcome): Outcome {
  if (outcome.kind === 'refused') {
    return outcome.model.length <= LONGEST_TEXT ? outcome : { ...outcome, model: shortened(outcome.model) };
  }
  const { model, loadKey } = outcome;
  if (model.length <= LONGEST_TEXT && (loadKey === null || loadKey.length <= LONGEST_TEXT)) return outcome;
  return withoutLongText(outcome);
}

function withoutLongText(decision: Decision): Decision {
  const { model, loadKey, prefill } = decision;
  return {
    ...decision,
    model: shortened(model),
    pinKey: null,
    loadKey: loadKey === null || loadKey.length > LONGEST_TEXT ? null : loadKey,
    write: null,
    prefill: prefill === null ? null : withoutLongText(prefill),
  };
}

/** By bytes: a slice of the string would keep all of it alive. */
function shortened(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  return `${Buffer.from(text.slice(0, 256)).toString()}…`;
}
