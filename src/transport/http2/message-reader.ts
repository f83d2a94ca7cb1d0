import type { MessageMemory } from './message-memory.ts';

/** Bytes before each message: a flag and the length (gRPC over HTTP/2, Length-Prefixed-Message). */
const PREFIX_BYTES = 5;
/** A message gets all of its memory once this much of it is there: a length costs no more than what was sent for it. */
const TRUSTED_BYTES = 1024 * 1024;
/** Until then it gets so many times what is there, which is all of a prompt once its first frame came. */
const TRUSTED_TIMES = 16;
const LEAST_BYTES = 4096;
const NONE = Buffer.alloc(0);

export interface MessageTaker {
  /** One whole message as it stood on the wire. */
  wireMessage(bytes: Buffer, compressed: boolean): void;
  /** The call cannot go on; nothing follows. */
  unreadable(reason: 'too_large' | 'broken'): void;
}

/**
 * Takes the messages of one call out of its DATA. Each is copied, each byte once, into memory of about its size: what was read is
 * overwritten by the next read.
 */
export class MessageReader {
  readonly #taker: MessageTaker;
  readonly #maxBytes: number;
  readonly #memory: MessageMemory;
  #prefixFilled = 0;
  #compressed = false;
  #length = 0;
  #body: Buffer = NONE;
  #filled = 0;
  #stopped = false;

  /** @param maxBytes largest message that is taken */
  constructor(taker: MessageTaker, maxBytes: number, memory: MessageMemory) {
    this.#taker = taker;
    this.#maxBytes = maxBytes;
    this.#memory = memory;
  }

  /** True between messages: the call may end here. */
  get whole(): boolean {
    return this.#prefixFilled === 0;
  }

  /** No more calls to the taker, and nothing is kept. */
  stop(): void {
    this.#stopped = true;
    this.#memory.release(this.#body);
    this.#body = NONE;
  }

  read(piece: Buffer, from: number, to: number): void {
    let at = from;
    while (at < to && !this.#stopped) {
      at = this.#prefixFilled < PREFIX_BYTES ? this.#prefix(piece, at, to) : this.#content(piece, at, to);
    }
  }

  #prefix(piece: Buffer, from: number, to: number): number {
    let at = from;
    for (; at < to && this.#prefixFilled < PREFIX_BYTES; at++) {
      const byte = piece[at] ?? 0;
      if (this.#prefixFilled === 0) {
        if (byte > 1) return this.#fail('broken', at);
        this.#compressed = byte === 1;
        this.#length = 0;
      } else this.#length = this.#length * 256 + byte;
      this.#prefixFilled += 1;
    }
    if (this.#prefixFilled < PREFIX_BYTES) return at;
    if (this.#length > this.#maxBytes) return this.#fail('too_large', at);
    if (this.#length === 0) this.#deliver(NONE);
    return at;
  }

  #content(piece: Buffer, from: number, to: number): number {
    const missing = this.#length - this.#filled;
    const taken = Math.min(missing, to - from);
    this.#makeRoom(this.#filled + taken);
    piece.copy(this.#body, this.#filled, from, from + taken);
    this.#filled += taken;
    if (taken === missing) this.#deliver(this.#body);
    return from + taken;
  }

  #makeRoom(needed: number): void {
    if (needed <= this.#body.length) return;
    const trusted = Math.min(Math.max(needed * TRUSTED_TIMES, LEAST_BYTES), TRUSTED_BYTES);
    const body = this.#memory.take(needed < trusted ? Math.min(this.#length, trusted) : this.#length);
    this.#body.copy(body, 0, 0, this.#filled);
    this.#memory.release(this.#body);
    this.#body = body;
  }

  #deliver(message: Buffer): void {
    this.#prefixFilled = 0;
    this.#body = NONE;
    this.#filled = 0;
    this.#taker.wireMessage(message, this.#compressed);
  }

  #fail(reason: 'too_large' | 'broken', at: number): number {
    this.stop();
    this.#taker.unreadable(reason);
    return at;
  }
}
