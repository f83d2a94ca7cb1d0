const LENGTH_DELIMITED = 2;
const START_BYTES = 2048;
const MAX_VARINT_BYTES = 5;
/** A text up to here is written faster character by character. */
const MAX_LOOP = 64;
/** Memory above this is let go with its message. */
const KEPT_BYTES = 64 * 1024;

/**
 * Writes one protobuf message from its end to its beginning, so that the length of a message inside is known when it is to be
 * written. Callers therefore write the last field first.
 *
 * One writer serves all messages, one after the other: its memory stays.
 */
export class WireWriter {
  #bytes = Buffer.allocUnsafeSlow(START_BYTES);
  #at = START_BYTES;

  /** Bytes written so far; given to {@link wrap}, once the message inside is written. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  text(field: number, value: string): void {
    const mark = this.length;
    if (!this.#ascii(value)) {
      const length = Buffer.byteLength(value);
      this.#reserve(length);
      this.#at -= length;
      this.#bytes.write(value, this.#at, length, 'utf8');
    }
    this.wrap(field, mark);
  }

  bytes(field: number, value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#bytes.set(value, this.#at);
    this.#head(field, LENGTH_DELIMITED, value.length);
  }

  varint(field: number, value: number): void {
    this.#varint(value);
    this.#varint(field * 8);
  }

  /** Makes all that was written since `mark` the content of a field. */
  wrap(field: number, mark: number): void {
    this.#head(field, LENGTH_DELIMITED, this.length - mark);
  }

  /** The message; the writer is empty afterwards. */
  take(): Buffer {
    if (this.#bytes.length > KEPT_BYTES) {
      const large = this.#bytes.subarray(this.#at);
      this.#bytes = Buffer.allocUnsafeSlow(START_BYTES);
      this.#at = START_BYTES;
      return large;
    }
    const message = Buffer.allocUnsafe(this.length);
    this.#bytes.copy(message, 0, this.#at);
    this.#at = this.#bytes.length;
    return message;
  }

  /** Writes a short text of ASCII, as most are; false: it is another one, and nothing was written. */
  #ascii(value: string): boolean {
    const { length } = value;
    if (length > MAX_LOOP) return false;
    this.#reserve(length);
    const from = this.#at - length;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return false;
      this.#bytes[from + i] = code;
    }
    this.#at = from;
    return true;
  }

  #head(field: number, wire: number, length: number): void {
    this.#varint(length);
    this.#varint(field * 8 + wire);
  }

  /** @param value below 2^31 */
  #varint(value: number): void {
    this.#reserve(MAX_VARINT_BYTES);
    let at = this.#at - sizeOf(value);
    this.#at = at;
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#bytes[at++] = (rest & 0x7f) | 0x80;
    this.#bytes[at] = rest;
  }

  #reserve(count: number): void {
    if (count <= this.#at) return;
    const written = this.length;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, written + count));
    this.#bytes.copy(larger, larger.length - written, this.#at);
    this.#bytes = larger;
    this.#at = larger.length - written;
  }
}

function sizeOf(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) size += 1;
  return size;
}
