import { DynamicTable } from './dynamic-table.ts';
import { huffmanText } from './huffman.ts';
import { STATIC_TABLE } from './static-table.ts';

/** Takes the fields of one header block, in their order. */
export interface FieldSink {
  /** Both with one character a byte. */
  field(name: string, value: string): void;
}

/** SETTINGS_HEADER_TABLE_SIZE where none is announced (RFC 9113 6.5.2). */
const DEFAULT_TABLE_BYTES = 4096;
/** Bytes of an integer after its prefix: enough for 2^31. */
const MAX_INTEGER_BYTES = 5;
const MAX_INTEGER = 0x7fff_ffff;
const FIRST_DYNAMIC = STATIC_TABLE.length + 1;

/**
 * Reads header blocks (RFC 7541). A field that stands in a table is told by the strings of the table; only a literal makes new
 * ones.
 */
export class HpackDecoder {
  readonly #table: DynamicTable;
  readonly #maxTableBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;
  #broken = false;

  /** @param maxTableBytes SETTINGS_HEADER_TABLE_SIZE that was announced */
  constructor(maxTableBytes: number = DEFAULT_TABLE_BYTES) {
    this.#maxTableBytes = maxTableBytes;
    this.#table = new DynamicTable(maxTableBytes);
  }

  /**
   * Reads one whole header block, `bytes[from, to)`. False: it is none, which is a COMPRESSION_ERROR (RFC 9113 4.3) and ends the
   * connection; what was found before may have been told.
   */
  decode(bytes: Buffer, from: number, to: number, sink: FieldSink): boolean {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
    this.#broken = false;
    let fieldSeen = false;
    while (this.#at < this.#end && !this.#broken) {
      const first = this.#bytes[this.#at] ?? 0;
      if ((first & 0xe0) === 0x20) {
        // RFC 7541 4.2: a change of the size comes before the first field.
        if (fieldSeen) return false;
        this.#resize();
        continue;
      }
      fieldSeen = true;
      if (first >= 0x80) this.#indexed(sink);
      else if (first >= 0x40) this.#literal(6, true, sink);
      else this.#literal(4, false, sink);
    }
    return !this.#broken;
  }

  /** RFC 7541 6.3. */
  #resize(): void {
    const size = this.#integer(5);
    if (size > this.#maxTableBytes) this.#broken = true;
    if (!this.#broken) this.#table.resize(size);
  }

  /** RFC 7541 6.1. */
  #indexed(sink: FieldSink): void {
    const index = this.#integer(7);
    const place = index - FIRST_DYNAMIC;
    if (this.#broken || index === 0 || place >= this.#table.count) {
      this.#broken = true;
      return;
    }
    if (place >= 0) {
      sink.field(this.#table.name(place), this.#table.value(place));
      return;
    }
    const entry = STATIC_TABLE[index - 1];
    if (entry !== undefined) sink.field(entry[0], entry[1]);
  }

  /** RFC 7541 6.2: with indexing, without, and never indexed, which is the same to a server that passes nothing on. */
  #literal(prefixBits: number, keep: boolean, sink: FieldSink): void {
    const index = this.#integer(prefixBits);
    const name = index === 0 ? this.#string() : this.#nameAt(index);
    const value = this.#string();
    if (this.#broken) return;
    if (keep) this.#table.add(name, value);
    sink.field(name, value);
  }

  #nameAt(index: number): string {
    const place = index - FIRST_DYNAMIC;
    if (place < 0) return STATIC_TABLE[index - 1]?.[0] ?? '';
    if (place < this.#table.count) return this.#table.name(place);
    this.#broken = true;
    return '';
  }

  /** RFC 7541 5.2. */
  #string(): string {
    if (this.#broken || this.#at >= this.#end) {
      this.#broken = true;
      return '';
    }
    const huffman = (this.#bytes[this.#at] ?? 0) >= 0x80;
    const length = this.#integer(7);
    const from = this.#at;
    const to = from + length;
    if (this.#broken || to > this.#end) {
      this.#broken = true;
      return '';
    }
    this.#at = to;
    if (!huffman) return this.#bytes.toString('latin1', from, to);
    const text = huffmanText(this.#bytes, from, to);
    if (text === null) this.#broken = true;
    return text ?? '';
  }

  /** RFC 7541 5.1. */
  #integer(prefixBits: number): number {
    const most = (1 << prefixBits) - 1;
    let value = (this.#bytes[this.#at] ?? 0) & most;
    this.#at += 1;
    if (value < most) return value;
    let unit = 1;
    for (let count = 0; count < MAX_INTEGER_BYTES && this.#at < this.#end; count++) {
      const byte = this.#bytes[this.#at] ?? 0;
      this.#at += 1;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        if (value > MAX_INTEGER) break;
        return value;
      }
      unit *= 128;
    }
    this.#broken = true;
    return 0;
  }
}
