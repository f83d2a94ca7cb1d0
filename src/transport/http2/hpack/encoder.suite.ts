import { huffmanBytes } from './huffman-code.suite.ts';
import { STATIC_TABLE } from './static-table.ts';

type Field = readonly [name: string, value: string];

/** RFC 7541 6.2: how a literal is written. */
export type LiteralForm = 'indexed' | 'not-indexed' | 'never-indexed';

/** A field, and how it is to be written where there is a choice. */
export interface PlannedField {
  readonly name: string;
  readonly value: string;
  /** Takes the tables where they have the field, or its name. */
  readonly byIndex: boolean;
  readonly form: LiteralForm;
  readonly huffmanName: boolean;
  readonly huffmanValue: boolean;
}

const FORMS = {
  indexed: { pattern: 0x40, prefixBits: 6 },
  'not-indexed': { pattern: 0x00, prefixBits: 4 },
  'never-indexed': { pattern: 0x10, prefixBits: 4 },
} as const;

/** Writes header blocks as RFC 7541 wants them, in any way it allows, with a dynamic table of its own: a plain list. */
export class PlannedEncoder {
  #table: Field[] = [];
  #maxBytes: number;

  /** @param maxBytes of the dynamic table at the beginning */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @param sizes of the dynamic table, told before the fields */
  block(fields: readonly PlannedField[], sizes: readonly number[] = []): Buffer {
    const updates = sizes.map((size) => {
      this.#maxBytes = size;
      this.#evict();
      return integerBytes(size, 5, 0x20);
    });
    return Buffer.concat([...updates, ...fields.map((field) => this.#field(field))]);
  }

  #field({ name, value, byIndex, form, huffmanName, huffmanValue }: PlannedField): Buffer {
    const known = [...STATIC_TABLE, ...this.#table];
    const same = known.findIndex((entry) => entry[0] === name && entry[1] === value) + 1;
    if (byIndex && same > 0) return integerBytes(same, 7, 0x80);
    const named = byIndex ? known.findIndex((entry) => entry[0] === name) + 1 : 0;
    if (form === 'indexed') {
      this.#table.unshift([name, value]);
      this.#evict();
    }
    const { pattern, prefixBits } = FORMS[form];
    return Buffer.concat([
      integerBytes(named, prefixBits, pattern),
      named === 0 ? stringBytes(name, huffmanName) : Buffer.alloc(0),
      stringBytes(value, huffmanValue),
    ]);
  }

  #evict(): void {
    while (this.#table.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0) > this.#maxBytes) {
      this.#table.pop();
    }
  }
}

/** RFC 7541 5.1. */
export function integerBytes(value: number, prefixBits: number, pattern: number): Buffer {
  const most = 2 ** prefixBits - 1;
  if (value < most) return Buffer.from([pattern + value]);
  const bytes = [pattern + most];
  for (let rest = value - most; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

/** RFC 7541 5.2. */
export function stringBytes(text: string, huffman: boolean): Buffer {
  const bytes = huffman ? huffmanBytes(text) : Buffer.from(text, 'latin1');
  return Buffer.concat([integerBytes(bytes.length, 7, huffman ? 0x80 : 0), bytes]);
}
