import type { ProcessingRequest, ProcessingResponse } from '../gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { Entry, StreamEnd } from './message.ts';

/** What a stream needs of a call of `Process`: that part of the client stream of grpc-js. */
export interface ProcessCall {
  readonly writableNeedDrain: boolean;
  /** False when there is no room for more; `drain` tells when there is again. */
  write(message: ProcessingRequest): boolean;
  end(): unknown;
  cancel(): void;
  on(event: 'data', hear: (message: ProcessingResponse) => void): unknown;
  on(event: 'drain' | 'error', hear: () => void): unknown;
  on(event: 'status', hear: (end: StreamEnd) => void): unknown;
}

/** One open stream to the picker, with everything that went over it. */
export class ProcessStream {
  /** Both directions, in the order of this side. */
  readonly entries: Entry[] = [];
  readonly #call: ProcessCall;
  readonly #timeoutMs: number;
  readonly #waiting = new Set<() => void>();
  #end: StreamEnd | null = null;

  /** @param timeoutMs longest silence of the picker while something is awaited */
  constructor(call: ProcessCall, timeoutMs: number) {
    this.#call = call;
    this.#timeoutMs = timeoutMs;
    call.on('data', (message: ProcessingResponse) => {
      this.entries.push({ from: 'picker', kind: message.response?.$case ?? null, message, at: performance.now() });
      this.#happened();
    });
    call.on('drain', () => this.#happened());
    // The status tells the same, and comes in each case.
    call.on('error', () => {});
    call.on('status', ({ code, details }) => {
      this.#end = { code, details };
      this.#happened();
    });
  }

  /** Null while the stream is open. */
  get end(): StreamEnd | null {
    return this.#end;
  }

  /** Sends a message; resolves when the connection has room for the next. */
  async send(message: ProcessingRequest): Promise<void> {
    if (this.#end !== null || message.request === undefined) return;
    const { $case: kind, value } = message.request;
    const bytes = 'body' in value ? (value.body?.length ?? 0) : 0;
    const endOfStream = 'endOfStream' in value && value.endOfStream === true;
    this.entries.push({ from: 'us', kind, bytes, endOfStream, at: performance.now() });
    if (!this.#call.write(message)) await this.until(() => !this.#call.writableNeedDrain);
  }

  /** Resolves with true once `done` holds, with false when the stream ended or was silent for too long before. */
  async until(done: () => boolean, silenceMs = this.#timeoutMs): Promise<boolean> {
    while (!done()) if (this.#end !== null || !(await this.#event(silenceMs))) return false;
    return true;
  }

  /** Resolves with true when the stream is over. */
  async ended(): Promise<boolean> {
    while (this.#end === null) if (!(await this.#event(this.#timeoutMs))) return false;
    return true;
  }

  halfClose(): void {
    if (this.#end === null) this.#call.end();
  }

  reset(): void {
    if (this.#end === null) this.#call.cancel();
  }

  #happened(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Resolves with false after a silence. */
  #event(silenceMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const heard = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(heard);
        resolve(false);
      }, silenceMs);
      this.#waiting.add(heard);
    });
  }
}
