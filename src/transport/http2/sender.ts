import { DEFAULT_FRAME_BYTES, DEFAULT_WINDOW, FrameType, MAX_31_BITS } from './codes.ts';
import type { Output } from './output.ts';
import type { SendQueue } from './send-queue.ts';

/** A call whose messages go out through a {@link Sender}. */
export interface SendingCall {
  readonly id: number;
  /** Bytes that the peer still takes of this call (RFC 9113 6.9); below 0 after its settings shrank it. */
  sendWindow: number;
  readonly queue: SendQueue | null;
  /** The queue has been sent. */
  drained(): void;
}

/**
 * Sends DATA within the windows of the peer (RFC 9113 6.9) and no faster than the socket takes it. Calls that wait take turns,
 * a frame each.
 */
export class Sender {
  readonly #output: Output;
  readonly #maxQueuedBytes: number;
  readonly #waiting = new Set<SendingCall>();
  readonly #put = (range: Uint8Array): void => this.#output.bytes(range);
  /** Bytes that the peer still takes on the connection. */
  #window = DEFAULT_WINDOW;
  #frameBytes = DEFAULT_FRAME_BYTES;
  #queuedBytes = 0;

  constructor(output: Output, maxQueuedBytes: number) {
    this.#output = output;
    this.#maxQueuedBytes = maxQueuedBytes;
  }

  /** Largest frame that the peer takes (RFC 9113 4.2). */
  set frameBytes(bytes: number) {
    this.#frameBytes = bytes;
  }

  /** Whether so many bytes may go out now, in one frame of a call that has nothing waiting. */
  passes(call: SendingCall, bytes: number): boolean {
    return bytes <= call.sendWindow && bytes <= this.#window && bytes <= this.#frameBytes && !this.#output.congested;
  }

  /** Starts a DATA frame that {@link passes}; its payload has to be written behind it. */
  begin(call: SendingCall, bytes: number): void {
    call.sendWindow -= bytes;
    this.#window -= bytes;
    this.#output.frame(FrameType.data, 0, call.id, bytes);
  }

  /** So much was added to the queue of a call. False: more waits than is allowed. */
  added(call: SendingCall, bytes: number): boolean {
    this.#queuedBytes += bytes;
    this.#waiting.add(call);
    return this.#queuedBytes <= this.#maxQueuedBytes;
  }

  /** A call that waits no more; what it had queued is dropped. */
  remove(call: SendingCall): void {
    this.#waiting.delete(call);
    if (call.queue !== null) this.#queuedBytes -= call.queue.bytes;
    call.queue?.clear();
  }

  /** Bytes more for the connection; false: more than a window can be (RFC 9113 6.9.1). */
  grant(bytes: number): boolean {
    this.#window += bytes;
    return this.#window <= MAX_31_BITS;
  }

  /** Bytes more, or less, for one call. */
  grantTo(call: SendingCall, bytes: number): boolean {
    call.sendWindow += bytes;
    if (call.queue !== null && call.queue.bytes > 0 && call.sendWindow > 0) this.#waiting.add(call);
    return call.sendWindow <= MAX_31_BITS;
  }

  /** Sends what may be sent. */
  pump(): void {
    for (const call of this.#waiting) {
      if (this.#window <= 0 || this.#output.congested) return;
      this.#waiting.delete(call);
      const queue = call.queue;
      if (queue === null || queue.bytes === 0 || call.sendWindow <= 0) continue;
      const bytes = Math.min(queue.bytes, call.sendWindow, this.#window, this.#frameBytes);
      this.begin(call, bytes);
      queue.move(bytes, this.#put);
      this.#queuedBytes -= bytes;
      // Behind the others; the loop comes to it again.
      if (queue.bytes > 0) this.#waiting.add(call);
      else call.drained();
    }
  }
}
