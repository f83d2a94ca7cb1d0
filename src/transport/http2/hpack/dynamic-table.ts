/** What an entry counts beside its name and value (RFC 7541 4.1). */
const ENTRY_OVERHEAD = 32;

/** The dynamic table (RFC 7541 2.3.2): the latest entries in a ring, the newest first. */
export class DynamicTable {
  #names: string[];
  #values: string[];
  /** Where the next entry goes; the newest stands before it. */
  #next = 0;
  #count = 0;
  #bytes = 0;
  #maxBytes: number;

  /** @param maxBytes largest size that {@link resize} may be given */
  constructor(maxBytes: number) {
    const places = Math.max(1, Math.floor(maxBytes / ENTRY_OVERHEAD));
    this.#names = new Array<string>(places).fill('');
    this.#values = new Array<string>(places).fill('');
    this.#maxBytes = maxBytes;
  }

  get count(): number {
    return this.#count;
  }

  /** @param place 0 for the newest, below {@link count} */
  name(place: number): string {
    return this.#names[this.#at(place)] ?? '';
  }

  value(place: number): string {
    return this.#values[this.#at(place)] ?? '';
  }

  /** An entry larger than the table empties it (RFC 7541 4.4). */
  add(name: string, value: string): void {
    const bytes = name.length + value.length + ENTRY_OVERHEAD;
    this.#evict(this.#maxBytes - bytes);
    if (bytes > this.#maxBytes) return;
    this.#names[this.#next] = name;
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % this.#names.length;
    this.#count += 1;
    this.#bytes += bytes;
  }

  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes;
    this.#evict(maxBytes);
  }

  #evict(downTo: number): void {
    while (this.#bytes > downTo && this.#count > 0) {
      const oldest = this.#at(this.#count - 1);
      const name = this.#names[oldest] ?? '';
      const value = this.#values[oldest] ?? '';
      this.#bytes -= name.length + value.length + ENTRY_OVERHEAD;
      this.#names[oldest] = '';
      this.#values[oldest] = '';
      this.#count -= 1;
    }
  }

  #at(place: number): number {
    const at = this.#next - 1 - place;
    return at < 0 ? at + this.#names.length : at;
  }
}
