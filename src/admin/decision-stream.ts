/** The latest decisions as server-sent events. The ring itself is the queue of every reader, so that none takes memory. */
import type { DecisionRing, RecordedDecision } from '../picker/decision-ring.ts';
import { decisionJson } from './decision-json.ts';

export interface StreamOptions {
  readonly wanted: (record: RecordedDecision) => boolean;
  /** Number of the first record to send. */
  readonly from: number;
  /** Most records of before that are sent at once. */
  readonly backlog: number;
  /** Most records a second; of more, every so many are left out. */
  readonly perSecond: number;
}

/** Between two looks at the ring. */
const TICK_MS = 250;
/** Proxies end what is silent for longer. */
const HEARTBEAT_MS = 10_000;
/** Readers at one time. */
export const MAX_READERS = 16;

/** All open streams of decisions. */
export class DecisionStreams {
  readonly #ring: DecisionRing;
  readonly #open = new Set<DecisionStream>();
  #over = false;

  constructor(ring: DecisionRing) {
    this.#ring = ring;
  }

  /** Null when there are too many already, or the service is on its way out. */
  open(options: StreamOptions): ReadableStream<Uint8Array> | null {
    if (this.#over || this.#open.size >= MAX_READERS) return null;
    const stream = new DecisionStream(this.#ring, options, () => this.#open.delete(stream));
    this.#open.add(stream);
    return stream.body;
  }

  get readers(): number {
    return this.#open.size;
  }

  /** Tells every reader that this is the end. */
  close(): void {
    this.#over = true;
    for (const stream of this.#open) stream.end();
  }
}

const encoder = new TextEncoder();

class DecisionStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #ring: DecisionRing;
  readonly #options: StreamOptions;
  readonly #closed: () => void;
  readonly #timer: NodeJS.Timeout;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #cursor: number;
  /** What may be sent now: a second's worth at most, so that a burst goes through. */
  #allowance: number;
  #silentMs = 0;
  #overwritten = 0;
  #sampled = 0;
  #leftOut: number;

  constructor(ring: DecisionRing, options: StreamOptions, closed: () => void) {
    this.#ring = ring;
    this.#options = options;
    this.#closed = closed;
    this.#cursor = options.from;
    this.#leftOut = ring.leftOut;
    this.#allowance = options.perSecond;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => this.#stop(),
    });
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    ring.wake();
    const since = ring.since === null ? null : new Date(ring.since).toISOString();
    this.#send(`retry: 2000\n${event('recording', { mode: ring.mode, since })}`);
    this.#tick(options.backlog);
  }

  end(): void {
    this.#send(event('end', { reason: 'draining' }));
    this.#controller?.close();
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#controller = null;
    this.#closed();
  }

  /** A reader that has not taken what it got last gets no more: what is overwritten meanwhile is counted. */
  #tick(least = 0): void {
    this.#ring.wake();
    if (this.#controller === null || (this.#controller.desiredSize ?? 0) < 0) return;
    const { perSecond } = this.#options;
    this.#allowance = Math.min(perSecond, this.#allowance + (perSecond * TICK_MS) / 1000);
    const records = this.#take(Math.max(least, Math.floor(this.#allowance)));
    this.#allowance = Math.max(0, this.#allowance - records.length);
    let text = '';
    for (const record of records) text += `id: ${record.seq}\n${event('decision', decisionJson(record))}`;
    const unrecorded = this.#ring.leftOut - this.#leftOut;
    if (this.#overwritten + this.#sampled + unrecorded > 0) {
      text += event('skipped', { overwritten: this.#overwritten, sampled: this.#sampled, unrecorded });
      this.#leftOut += unrecorded;
      this.#overwritten = 0;
      this.#sampled = 0;
    }
    this.#silentMs = text === '' ? this.#silentMs + TICK_MS : 0;
    if (this.#silentMs >= HEARTBEAT_MS) {
      text = ': still here\n\n';
      this.#silentMs = 0;
    }
    if (text !== '') this.#send(text);
  }

  /** What came since the last look, evenly thinned out to `most`. */
  #take(most: number): readonly RecordedDecision[] {
    const { oldest, next } = this.#ring;
    if (this.#cursor < oldest) {
      this.#overwritten += oldest - this.#cursor;
      this.#cursor = oldest;
    }
    const wanted: RecordedDecision[] = [];
    for (; this.#cursor < next; this.#cursor++) {
      const record = this.#ring.at(this.#cursor);
      if (record !== null && this.#options.wanted(record)) wanted.push(record);
    }
    if (wanted.length <= most) return wanted;
    this.#sampled += wanted.length - most;
    return Array.from({ length: most }, (_, i) => wanted[Math.floor(((i + 1) * wanted.length) / most) - 1]).filter(
      (record) => record !== undefined,
    );
  }

  #send(text: string): void {
    this.#controller?.enqueue(encoder.encode(text));
  }
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
