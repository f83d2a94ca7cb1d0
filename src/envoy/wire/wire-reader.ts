/** Wire types in use (https://protobuf.dev/programming-guides/encoding/#structure); groups are long gone. */
const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;
const MAX_TAG = 0xffff_ffff;

const NOTHING = Buffer.alloc(0);

/**
 * Walks the fields of one protobuf message where they lie, and copies nothing. A message inside is walked by another reader over
 * `from` and `to`. A reader can be opened again and again, so that one serves all messages of its kind.
 */
export class WireReader {
  #bytes: Buffer = NOTHING;
  #end = 0;
  #at = 0;
  /** Number of the current field when it holds bytes, else 0. */
  field = 0;
  /** Where its bytes begin and end. */
  from = 0;
  to = 0;
  /** Number of the current field when it is a varint, else 0. */
  numberField = 0;
  /** Its value; inexact beyond 2^53. */
  number = 0;
  /** True once the bytes turned out to be no message. */
  broken = false;

  /** Begins with the message `bytes[from, to)`. */
  open(bytes: Buffer, from: number, to: number): this {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
    this.broken = false;
    return this;
  }

  /** Where the next field begins. */
  get position(): number {
    return this.#at;
  }

  /** Goes to the next field; false at the end, and where the bytes are broken. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.#varint();
    this.field = 0;
    this.numberField = 0;
    // Field numbers begin at 1 and have 29 bits.
    if (tag < 8 || tag > MAX_TAG) return this.#stop();
    switch (tag % 8) {
      case VARINT:
        this.number = this.#varint();
        this.numberField = Math.floor(tag / 8);
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

  /** Whether the bytes of the current field are this text, one character a byte. */
  is(text: string): boolean {
    return equals(this.#bytes, this.from, this.to, text);
  }

  /** The bytes of the current field as text, one character a byte. */
  latin1(): string {
    return this.#bytes.toString('latin1', this.from, this.to);
  }

  utf8(): string {
    return this.#bytes.toString('utf8', this.from, this.to);
  }

  /** The number at the current place. */
  #varint(): number {
    const first = this.#at < this.#end ? (this.#bytes[this.#at] ?? 0) : 0x80;
    if (first < 0x80) {
      this.#at += 1;
      return first;
    }
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

/** Whether `bytes[from, to)` are this text, one character a byte. */
export function equals(bytes: Buffer, from: number, to: number, text: string): boolean {
  if (to - from !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text.charCodeAt(i)) return false;
  return true;
}
