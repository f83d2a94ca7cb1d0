/** Wire types in use (https://protobuf.dev/programming-guides/encoding/#structure); groups are long gone. */
const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;
const MAX_TAG = 0xffff_ffff;

/**
 * Walks the fields of one protobuf message where they lie, and copies nothing. A message inside is walked by a reader of its
 * own over `from` and `to`.
 */
export class WireReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;
  /** Number of the current field; 0 for one that holds no bytes: nothing that is read here is a number. */
  field = 0;
  /** Where its bytes begin and end. */
  from = 0;
  to = 0;
  /** True once the bytes turned out to be no message. */
  broken = false;

  constructor(bytes: Uint8Array, from: number, to: number) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
  }

  /** Goes to the next field; false at the end, and where the bytes are broken. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.#varint();
    this.field = 0;
    // Field numbers begin at 1 and have 29 bits.
    if (tag < 8 || tag > MAX_TAG) return this.#stop();
    switch (tag % 8) {
      case VARINT:
        this.#varint();
        break;
      case FIXED_64:
        this.#at += 8;
        break;
      case FIXED_32:
        this.#at += 4;
        break;
      case LENGTH_DELIMITED: {
        const length = this.#varint();
        this.field = Math.floor(tag / 8);
        this.from = this.#at;
        this.to = this.#at + length;
        this.#at = this.to;
        break;
      }
      default:
        return this.#stop();
    }
    return this.#at <= this.#end || this.#stop();
  }

  /** The number at the current place; what is beyond 2^53 is only skipped, never used. */
  #varint(): number {
    let value = 0;
    let unit = 1;
    for (let count = 0; count < 10; count++) {
      const byte = this.#at < this.#end ? (this.#bytes[this.#at] ?? 0) : 0x80;
      this.#at += 1;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      unit *= 128;
    }
    this.#at = Number.POSITIVE_INFINITY;
    return 0;
  }

  #stop(): false {
    this.broken = true;
    this.#at = this.#end;
    return false;
  }
}
