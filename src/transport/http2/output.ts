import type { Socket } from 'node:net';
import { FRAME_HEADER_BYTES } from './codes.ts';

const SLAB_BYTES = 32 * 1024;
/** A longer range is handed to the socket where it lies. */
const COPY_BYTES = 4096;
/** With so much unsent, answers wait in the queues of their calls, where each call waits for its own turn. */
const CONGESTED_BYTES = 256 * 1024;

/**
 * What goes out on a connection: frames are put together and leave in one write at the end of the turn. The memory of a slab
 * is written once and never again, since the socket may still hold it.
 */
export class Output {
  readonly #socket: Socket;
  readonly #flushSoon = (): void => {
    this.#scheduled = false;
    this.flush();
  };
  #slab: Buffer = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #from = 0;
  #at = 0;
  /** What goes before the slab's part, in order. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #inTurn = false;
  #scheduled = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Bytes that the socket has not taken. */
  get unsent(): number {
    return this.#socket.writableLength + this.#partBytes + this.#at - this.#from;
  }

  get congested(): boolean {
    return this.unsent >= CONGESTED_BYTES;
  }

  /** What is written from here on leaves with the next {@link flush}. */
  beginTurn(): void {
    this.#inTurn = true;
  }

  endTurn(): void {
    this.#inTurn = false;
    this.flush();
  }

  /** A frame header (RFC 9113 4.1). The payload has to follow. */
  frame(type: number, flags: number, streamId: number, length: number): void {
    const at = this.#reserve(FRAME_HEADER_BYTES);
    const slab = this.#slab;
    slab[at] = length >>> 16;
    slab[at + 1] = length >>> 8;
    slab[at + 2] = length;
    slab[at + 3] = type;
    slab[at + 4] = flags;
    this.#put32(at + 5, streamId);
  }

  uint32(value: number): void {
    this.#put32(this.#reserve(4), value);
  }

  uint16(value: number): void {
    const at = this.#reserve(2);
    this.#slab[at] = value >>> 8;
    this.#slab[at + 1] = value;
  }

  byte(value: number): void {
    const at = this.#reserve(1);
    this.#slab[at] = value;
  }

  bytes(bytes: Uint8Array): void {
    if (bytes.length > COPY_BYTES) {
      this.#seal();
      this.#parts.push(bytes);
      this.#partBytes += bytes.length;
      if (!this.#inTurn) this.#schedule();
      return;
    }
    const at = this.#reserve(bytes.length);
    this.#slab.set(bytes, at);
  }

  /** Hands everything to the socket. */
  flush(): void {
    const socket = this.#socket;
    if (this.#parts.length === 0) {
      if (this.#at === this.#from) return;
      const part = this.#take();
      if (!socket.destroyed && !socket.writableEnded) socket.write(part);
      return;
    }
    this.#seal();
    const parts = this.#parts;
    this.#parts = [];
    this.#partBytes = 0;
    if (socket.destroyed || socket.writableEnded) return;
    socket.cork();
    for (const part of parts) socket.write(part);
    socket.uncork();
  }

  #reserve(count: number): number {
    if (this.#at + count > this.#slab.length) {
      this.#seal();
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#from = 0;
      this.#at = 0;
    }
    const at = this.#at;
    this.#at = at + count;
    if (!this.#inTurn) this.#schedule();
    return at;
  }

  #seal(): void {
    if (this.#at === this.#from) return;
    const part = this.#take();
    this.#parts.push(part);
    this.#partBytes += part.length;
  }

  #take(): Uint8Array {
    const part = this.#slab.subarray(this.#from, this.#at);
    this.#from = this.#at;
    return part;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(this.#flushSoon);
  }

  #put32(at: number, value: number): void {
    const slab = this.#slab;
    slab[at] = value >>> 24;
    slab[at + 1] = value >>> 16;
    slab[at + 2] = value >>> 8;
    slab[at + 3] = value;
  }
}
