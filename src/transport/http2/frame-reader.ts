import { ErrorCode, Flag, FRAME_HEADER_BYTES, FrameType } from './codes.ts';

/** What a connection does with the frames that come. */
export interface FrameTaker {
  /** One whole frame that is no DATA; its payload is `bytes[from, to)`, which holds during the call only. */
  frame(type: number, flags: number, streamId: number, bytes: Buffer, from: number, to: number): void;
  /** The start of a DATA frame. @param length all of its payload, with padding: what flow control counts (RFC 9113 6.9.1) */
  dataBegins(streamId: number, length: number, flags: number): void;
  /** Some of its bytes, as they came; they hold during the call only. */
  data(bytes: Buffer, from: number, to: number): void;
  dataEnds(): void;
  /** A frame is larger than we take: the connection is over. */
  tooLarge(): void;
  /** The bytes break the protocol: the connection is over. */
  violated(code: ErrorCode, reason: string): void;
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const NONE = Buffer.alloc(0);

/**
 * Cuts what arrives into frames (RFC 9113 4.1), wherever the pieces are cut. DATA passes in ranges of the pieces, uncopied;
 * another frame is put together only when a piece ends within it.
 */
export class FrameReader {
  readonly #taker: FrameTaker;
  readonly #maxFrameBytes: number;
  readonly #head = Buffer.alloc(FRAME_HEADER_BYTES);
  #prefaceAt = 0;
  #headFilled = 0;
  /** A frame that is put together. */
  #held: Buffer = NONE;
  #heldFilled = 0;
  #type = 0;
  #flags = 0;
  #streamId = 0;
  /** Of the current DATA frame: bytes to come, padding to come, and whether its first byte tells the padding. */
  #inData = false;
  #dataLeft = 0;
  #paddingLeft = 0;
  #paddingUnknown = false;
  #stopped = false;

  /** @param maxFrameBytes largest payload that is taken */
  constructor(taker: FrameTaker, maxFrameBytes: number) {
    this.#taker = taker;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** True once the client has said that it speaks HTTP/2 (RFC 9113 3.4). */
  get begun(): boolean {
    return this.#prefaceAt === PREFACE.length;
  }

  /** No more calls to the taker. */
  stop(): void {
    this.#stopped = true;
  }

  read(piece: Buffer): void {
    let at = 0;
    while (!this.#stopped && (at < piece.length || this.#dataDone())) at = this.#step(piece, at);
  }

  #step(piece: Buffer, at: number): number {
    if (this.#inData) return this.#dataStep(piece, at);
    if (this.#heldFilled < this.#held.length) return this.#hold(piece, at);
    if (this.#prefaceAt < PREFACE.length) return this.#preface(piece, at);
    if (this.#headFilled === 0 && piece.length - at >= FRAME_HEADER_BYTES) {
      return this.#begin(piece, at, piece, at + FRAME_HEADER_BYTES);
    }
    const taken = Math.min(FRAME_HEADER_BYTES - this.#headFilled, piece.length - at);
    piece.copy(this.#head, this.#headFilled, at, at + taken);
    this.#headFilled += taken;
    if (this.#headFilled < FRAME_HEADER_BYTES) return at + taken;
    this.#headFilled = 0;
    return this.#begin(this.#head, 0, piece, at + taken);
  }

  #preface(piece: Buffer, from: number): number {
    let at = from;
    while (at < piece.length && this.#prefaceAt < PREFACE.length) {
      if (piece[at] !== PREFACE[this.#prefaceAt])
        return this.#violate(ErrorCode.protocolError, 'no HTTP/2 preface', at);
      at += 1;
      this.#prefaceAt += 1;
    }
    return at;
  }

  /** Reads a frame header; its payload begins at `piece[at]`. */
  #begin(head: Buffer, from: number, piece: Buffer, at: number): number {
    const length = head.readUIntBE(from, 3);
    this.#type = head[from + 3] ?? 0;
    this.#flags = head[from + 4] ?? 0;
    this.#streamId = head.readUInt32BE(from + 5) & 0x7fff_ffff;
    if (length > this.#maxFrameBytes) {
      this.#stopped = true;
      this.#taker.tooLarge();
      return at;
    }

    if (this.#type === FrameType.data) {
      this.#taker.dataBegins(this.#streamId, length, this.#flags);
      this.#inData = true;
      this.#dataLeft = length;
      this.#paddingLeft = 0;
      this.#paddingUnknown = (this.#flags & Flag.padded) !== 0;
      return at;
    }
    if (piece.length - at >= length) {
      this.#taker.frame(this.#type, this.#flags, this.#streamId, piece, at, at + length);
      return at + length;
    }
    this.#held = Buffer.allocUnsafe(length);
    this.#heldFilled = 0;
    return at;
  }

  #hold(piece: Buffer, at: number): number {
    const held = this.#held;
    const taken = Math.min(held.length - this.#heldFilled, piece.length - at);
    piece.copy(held, this.#heldFilled, at, at + taken);
    this.#heldFilled += taken;
    if (this.#heldFilled === held.length) {
      this.#held = NONE;
      this.#heldFilled = 0;
      this.#taker.frame(this.#type, this.#flags, this.#streamId, held, 0, held.length);
    }
    return at + taken;
  }

  #dataDone(): boolean {
    return this.#inData && this.#dataLeft === 0 && this.#paddingLeft === 0;
  }

  #dataStep(piece: Buffer, at: number): number {
    if (this.#paddingUnknown) {
      const padding = this.#dataLeft === 0 ? 0 : (piece[at] ?? 0);
      // Padding as long as the payload leaves no room for its own length (RFC 9113 6.1).
      if (padding >= this.#dataLeft) return this.#violate(ErrorCode.protocolError, 'more padding than payload', at);
      this.#paddingUnknown = false;
      this.#paddingLeft = padding;
      this.#dataLeft -= 1 + padding;
      return at + 1;
    }
    if (this.#dataLeft > 0) {
      const taken = Math.min(this.#dataLeft, piece.length - at);
      this.#dataLeft -= taken;
      this.#taker.data(piece, at, at + taken);
      return at + taken;
    }
    const skipped = Math.min(this.#paddingLeft, piece.length - at);
    this.#paddingLeft -= skipped;
    if (this.#paddingLeft === 0) {
      this.#inData = false;
      this.#taker.dataEnds();
    }
    return at + skipped;
  }

  #violate(code: ErrorCode, reason: string, at: number): number {
    this.#stopped = true;
    this.#taker.violated(code, reason);
    return at;
  }
}
