/** RFC 7541 by the letter: lists of entries, bits one by one. */
import { STATIC_TABLE } from '../../../src/transport/http2/hpack/static-table.ts';
import { huffmanDecode } from './huffman.ts';

const ENTRY_OVERHEAD = 32;
/** What we let an integer be: five bytes behind its prefix, and 31 bits. */
const MOST_BYTES = 5;
const MOST = 0x7fff_ffff;

class Broken extends Error {}

export class PlainHpack {
  readonly #most: number;
  #size: number;
  #table: [name: string, value: string][] = [];

  /** @param size of the table at the beginning */
  constructor(most: number, size: number = most) {
    this.#most = most;
    this.#size = size;
  }

  get tableBytes(): number {
    return this.#table.reduce((sum, [name, value]) => sum + name.length + value.length + ENTRY_OVERHEAD, 0);
  }

  /** Name, value, name, value, …; null when the block is broken. */
  read(bytes: Buffer, from: number, to: number): string[] | null {
    try {
      return this.#read(new Bits(bytes, from, to));
    } catch (error) {
      if (error instanceof Broken) return null;
      throw error;
    }
  }

  #read(bits: Bits): string[] {
    const found: string[] = [];
    while (!bits.done) {
      if (bits.starts('1')) found.push(...this.#entry(bits.integer(7)));
      else if (bits.starts('01')) {
        const field = this.#literal(bits, 6);
        this.#table.unshift(field);
        this.#evict();
        found.push(...field);
      } else if (bits.starts('001')) {
        if (found.length > 0) throw new Broken();
        const size = bits.integer(5);
        if (size > this.#most) throw new Broken();
        this.#size = size;
        this.#evict();
      } else found.push(...this.#literal(bits, 4));
    }
    return found;
  }

  #literal(bits: Bits, prefix: number): [string, string] {
    const index = bits.integer(prefix);
    const name = index === 0 ? bits.string() : this.#entry(index)[0];
    return [name, bits.string()];
  }

  #entry(index: number): readonly [string, string] {
    const entry = index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : this.#table[index - STATIC_TABLE.length - 1];
    if (entry === undefined) throw new Broken();
    return [entry[0], entry[1]];
  }

  #evict(): void {
    while (this.tableBytes > this.#size) this.#table.pop();
  }
}

class Bits {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, from: number, to: number) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  starts(pattern: string): boolean {
    return (this.#bytes[this.#at]! | 0x100).toString(2).slice(1).startsWith(pattern);
  }

  integer(prefix: number): number {
    const most = 2 ** prefix - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let i = 0; i < MOST_BYTES; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 128 ** i;
      if (byte < 128) {
        if (value > MOST) break;
        return value;
      }
    }
    throw new Broken();
  }

  string(): string {
    if (this.done) throw new Broken();
    const coded = this.#bytes[this.#at]! >= 128;
    const length = this.integer(7);
    if (this.#at + length > this.#end) throw new Broken();
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    const text = coded ? huffmanDecode(bytes) : bytes.toString('latin1');
    if (text === null) throw new Broken();
    return text;
  }

  #byte(): number {
    if (this.done) throw new Broken();
    return this.#bytes[this.#at++]!;
  }
}
