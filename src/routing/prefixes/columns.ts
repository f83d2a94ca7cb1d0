/**
 * Numbers by index, in chunks: growth adds a chunk and copies nothing, so that no call pays for what is there already.
 * Nothing here is checked; an index in use lies within what `reach` made room for. Hot path.
 */

const BITS = 12;
const LENGTH = 1 << BITS;
const MASK = LENGTH - 1;

/** Stands for no record, where a record number is expected. */
export const NONE = -1;

export class IntColumn {
  readonly #chunks: Int32Array[] = [];

  get(index: number): number {
    return (this.#chunks[index >>> BITS] as Int32Array)[index & MASK] as number;
  }

  set(index: number, value: number): void {
    (this.#chunks[index >>> BITS] as Int32Array)[index & MASK] = value;
  }

  /** Makes room up to an index. */
  reach(index: number): void {
    while (this.#chunks.length <= index >>> BITS) this.#chunks.push(new Int32Array(LENGTH));
  }
}

export class FloatColumn {
  readonly #chunks: Float64Array[] = [];

  get(index: number): number {
    return (this.#chunks[index >>> BITS] as Float64Array)[index & MASK] as number;
  }

  set(index: number, value: number): void {
    (this.#chunks[index >>> BITS] as Float64Array)[index & MASK] = value;
  }

  reach(index: number): void {
    while (this.#chunks.length <= index >>> BITS) this.#chunks.push(new Float64Array(LENGTH));
  }
}

export class TextColumn {
  readonly #chunks: string[][] = [];

  get(index: number): string {
    return (this.#chunks[index >>> BITS] as string[])[index & MASK] as string;
  }

  set(index: number, value: string): void {
    (this.#chunks[index >>> BITS] as string[])[index & MASK] = value;
  }

  reach(index: number): void {
    while (this.#chunks.length <= index >>> BITS) this.#chunks.push(new Array<string>(LENGTH).fill(''));
  }
}

const WIDTH_BITS = 3;
/** The field that links free records; in use it is a field like others. */
const LINK = 0;

/** Records of eight numbers, with the free ones to be taken again. */
export class Records {
  readonly #fields = new IntColumn();
  #free = NONE;
  #length = 0;

  /** Records ever taken at once: the length of a column beside these. */
  get length(): number {
    return this.#length;
  }

  get(record: number, field: number): number {
    return this.#fields.get((record << WIDTH_BITS) | field);
  }

  set(record: number, field: number, value: number): void {
    this.#fields.set((record << WIDTH_BITS) | field, value);
  }

  /** A record whose fields hold anything. */
  take(): number {
    const record = this.#free;
    if (record !== NONE) {
      this.#free = this.get(record, LINK);
      return record;
    }
    this.#fields.reach(((this.#length + 1) << WIDTH_BITS) - 1);
    return this.#length++;
  }

  drop(record: number): void {
    this.set(record, LINK, this.#free);
    this.#free = record;
  }
}
