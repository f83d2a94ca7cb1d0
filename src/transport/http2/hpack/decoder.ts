import { BlockReader } from './block-reader.ts';
import { DynamicTable } from './dynamic-table.ts';
import { STATIC_TABLE } from './static-table.ts';

/** Takes the fields of one header block, in their order. */
export interface FieldSink {
  /** Both with one character a byte. */
  field(name: string, value: string): void;
}

/** What SETTINGS_HEADER_TABLE_SIZE is, and a table holds, before anybody says otherwise (RFC 9113 6.5.2). */
const INITIAL_TABLE_BYTES = 4096;
const FIRST_DYNAMIC = STATIC_TABLE.length + 1;

/**
 * Reads header blocks (RFC 7541). A field that stands in a table is told by the strings of the table; only a literal makes new
 * ones.
 */
export class HpackDecoder {
  readonly #reader = new BlockReader();
  readonly #table: DynamicTable;
  readonly #maxTableBytes: number;

  /**
   * @param maxTableBytes SETTINGS_HEADER_TABLE_SIZE that was announced. A peer that may have more than it had at first says how
   * much it takes (RFC 7541 4.2).
   */
  constructor(maxTableBytes: number = INITIAL_TABLE_BYTES) {
    this.#maxTableBytes = maxTableBytes;
    this.#table = new DynamicTable(maxTableBytes);
    this.#table.resize(Math.min(maxTableBytes, INITIAL_TABLE_BYTES));
  }

  /**
   * Reads one whole header block, `bytes[from, to)`. False: it is none, which is a COMPRESSION_ERROR (RFC 9113 4.3) and ends the
   * connection; what was found before may have been told.
   */
  decode(bytes: Buffer, from: number, to: number, sink: FieldSink): boolean {
    const reader = this.#reader;
    reader.begin(bytes, from, to);
    this.#resizes();
    while (!reader.done) {
      const first = reader.peek();
      if (first >= 0x80) this.#indexed(sink);
      else if (first >= 0x40) this.#literal(6, true, sink);
      else if (first < 0x20) this.#literal(4, false, sink);
      // A size behind a field (RFC 7541 4.2).
      else reader.fail();
    }
    return reader.finish();
  }

  /**
   * RFC 7541 4.2 and 6.3. An encoder has no use for more than two, but a decoder is told to refuse only a size above the one that
   * was announced; they cost no more than other bytes.
   */
  #resizes(): void {
    const reader = this.#reader;
    while (!reader.done && (reader.peek() & 0xe0) === 0x20) {
      const size = reader.integer(5);
      if (size > this.#maxTableBytes) reader.fail();
      else this.#table.resize(size);
    }
  }

  /** RFC 7541 6.1. */
  #indexed(sink: FieldSink): void {
    const index = this.#reader.integer(7);
    const place = index - FIRST_DYNAMIC;
    if (place >= 0) {
      if (place < this.#table.count) sink.field(this.#table.name(place), this.#table.value(place));
      else this.#reader.fail();
      return;
    }
    const entry = index > 0 ? STATIC_TABLE[index - 1] : undefined;
    if (entry === undefined) this.#reader.fail();
    else sink.field(entry[0], entry[1]);
  }

  /** RFC 7541 6.2: with indexing, without, and never indexed, which is the same to a server that passes nothing on. */
  #literal(prefixBits: number, keep: boolean, sink: FieldSink): void {
    const reader = this.#reader;
    const index = reader.integer(prefixBits);
    const name = index === 0 ? reader.string() : this.#nameAt(index);
    const value = reader.string();
    if (reader.broken) return;
    if (keep) this.#table.add(name, value);
    sink.field(name, value);
  }

  #nameAt(index: number): string {
    const place = index - FIRST_DYNAMIC;
    if (place < 0) return STATIC_TABLE[index - 1]?.[0] ?? '';
    if (place < this.#table.count) return this.#table.name(place);
    this.#reader.fail();
    return '';
  }
}
