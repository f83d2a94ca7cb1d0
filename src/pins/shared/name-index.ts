/**
 * Finds the slot of a pin by the name that replicas share, with 11 bytes each: open addressing in many small tables, so that
 * one that grows stops nothing. A name stands in it as 32 bits; the caller compares the rest.
 */
const TABLES = 64;
const FIRST_CAPACITY = 16;
const FIRST_SLOTS = 1024;
/** Marks a place that was never taken. */
const FREE = 0;

export class NameIndex {
  readonly #tables: Table[] = Array.from({ length: TABLES }, () => ({
    cells: new Int32Array(FIRST_CAPACITY),
    used: 0,
  }));
  #tagAt = new Int32Array(FIRST_SLOTS);

  add(name: string, slot: number): void {
    while (slot >= this.#tagAt.length) this.#tagAt = grown(this.#tagAt);
    const tag = tagOf(name);
    this.#tagAt[slot] = tag;
    const table = this.#tableOf(tag);
    if ((table.used + 1) * 4 > table.cells.length * 3) this.#growTable(table);
    this.#place(table.cells, slot);
    table.used++;
  }

  /** The slot with this name, -1 without one. `isOf` tells whether a slot that may be it is it. */
  find(name: string, isOf: (slot: number) => boolean): number {
    const tag = tagOf(name);
    const { cells } = this.#tableOf(tag);
    const mask = cells.length - 1;
    for (let i = placeOf(tag, mask); ; i = (i + 1) & mask) {
      const cell = cells[i] ?? FREE;
      if (cell === FREE) return -1;
      if (this.#tagAt[cell - 1] === tag && isOf(cell - 1)) return cell - 1;
    }
  }

  /** Of a slot that was added. */
  remove(slot: number): void {
    const table = this.#tableOf(this.#tagAt[slot] ?? 0);
    const { cells } = table;
    const mask = cells.length - 1;
    let hole = placeOf(this.#tagAt[slot] ?? 0, mask);
    while (cells[hole] !== slot + 1) {
      if (cells[hole] === FREE) return;
      hole = (hole + 1) & mask;
    }
    table.used--;
    // Later ones of the run move up, where the hole lies between their place and them.
    for (let i = (hole + 1) & mask; cells[i] !== FREE; i = (i + 1) & mask) {
      const cell = cells[i] ?? FREE;
      const home = placeOf(this.#tagAt[cell - 1] ?? 0, mask);
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      cells[hole] = cell;
      hole = i;
    }
    cells[hole] = FREE;
  }

  #growTable(table: Table): void {
    const { cells } = table;
    table.cells = new Int32Array(cells.length * 2);
    for (const cell of cells) if (cell !== FREE) this.#place(table.cells, cell - 1);
  }

  #place(cells: Int32Array, slot: number): void {
    const mask = cells.length - 1;
    let i = placeOf(this.#tagAt[slot] ?? 0, mask);
    while (cells[i] !== FREE) i = (i + 1) & mask;
    cells[i] = slot + 1;
  }

  #tableOf(tag: number): Table {
    // The mask keeps the index within the tables.
    return this.#tables[tag & (TABLES - 1)] as Table;
  }
}

interface Table {
  /** Slots + 1. */
  cells: Int32Array<ArrayBuffer>;
  used: number;
}

/** The bits beside those that name the table. */
function placeOf(tag: number, mask: number): number {
  return (tag >>> 6) & mask;
}

/** A name is a digest: any mixture of its characters is as even as the digest. */
function tagOf(name: string): number {
  let tag = 0;
  for (let i = 0; i < name.length; i++) tag = (Math.imul(tag, 31) + name.charCodeAt(i)) | 0;
  return tag ^ (tag >>> 15);
}

function grown(column: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(column.length * 2);
  larger.set(column);
  return larger;
}
