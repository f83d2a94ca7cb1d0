import { huffmanText } from './huffman.ts';

/** Bytes of an integer after its prefix: enough for 2^31. */
const MAX_INTEGER_BYTES = 5;
const MAX_INTEGER = 0x7fff_ffff;
const NONE = Buffer.alloc(0);

/**
 * Reads what header blocks are made of: integers and strings (RFC 7541 5). An error ends the block; what is answered from then
 * on means nothing.
 */
export class BlockReader {
  #bytes: Buffer = NONE;
  #at = 0;
  #end = 0;
  #broken = false;

  begin(bytes: Buffer, from: number, to: number): void {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
    this.#broken = false;
  }

  /** Lets go of the bytes. False: an error was met. */
  finish(): boolean {
    this.#bytes = NONE;
    return !this.#broken;
  }

  get broken(): boolean {
    return this.#broken;
  }

  /** No byte is left, or an error was met. */
  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** The next byte, which stays; only before {@link done}. */
  peek(): number {
    return this.#bytes[this.#at] ?? 0;
  }

  /** Notes an error. */
  fail(): void {
    this.#broken = true;
    this.#at = this.#end;
  }

  /** RFC 7541 5.1; only before {@link done}. 0 after an error. */
  integer(prefixBits: number): number {
    const most = (1 << prefixBits) - 1;
    const prefix = this.peek() & most;
    this.#at += 1;
    return prefix < most ? prefix : this.#longInteger(most);
  }

  /** RFC 7541 5.2: one character a byte. Empty after an error. */
  string(): string {
    if (this.done) {
      this.fail();
      return '';
    }
    const huffman = this.peek() >= 0x80;
    const length = this.integer(7);
    const from = this.#at;
    const to = from + length;
    if (this.#broken || to > this.#end) {
      this.fail();
      return '';
    }
    this.#at = to;
    if (!huffman) return this.#bytes.toString('latin1', from, to);
    const text = huffmanText(this.#bytes, from, to);
    if (text === null) this.fail();
    return text ?? '';
  }

  #longInteger(prefix: number): number {
    let value = prefix;
    let unit = 1;
    for (let count = 0; count < MAX_INTEGER_BYTES && this.#at < this.#end; count++) {
      const byte = this.peek();
      this.#at += 1;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        if (value > MAX_INTEGER) break;
        return value;
      }
      unit *= 128;
    }
    this.fail();
    return 0;
  }
}
