import { WireReader } from './wire-reader.ts';

/** Fields of a `HeaderValue`, and of an entry of a map of headers, which has no raw value. */
const KEY = 1;
const VALUE = 2;
const RAW_VALUE = 3;
/** Field of a `HeaderMap`. */
const HEADERS = 1;

/** Numbers that are kept of one header: where its name and its value begin and end. */
const SPANS = 4;
const NO_NAMES: readonly string[] = [];
const mapReader = new WireReader();
const headerReader = new WireReader();

/** The headers of one message, looked up where they lie: a name or value is made only when somebody asks for it. */
export class HeaderSpans {
  readonly #bytes: Buffer;
  readonly #spans: number[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Adds the headers of a `HeaderMap`; false when it is broken. */
  addMap(from: number, to: number): boolean {
    const reader = mapReader.open(this.#bytes, from, to);
    while (reader.next()) if (reader.field === HEADERS && !this.add(reader.from, reader.to)) return false;
    return !reader.broken;
  }

  /** Adds one header. Envoy fills the raw value where there is one, very old Envoys the value. */
  add(from: number, to: number): boolean {
    const reader = headerReader.open(this.#bytes, from, to);
    let keyFrom = 0;
    let keyTo = 0;
    let valueFrom = 0;
    let valueTo = 0;
    let raw = false;
    while (reader.next()) {
      const { field } = reader;
      if (field === KEY) {
        keyFrom = reader.from;
        keyTo = reader.to;
      } else if (field === RAW_VALUE ? reader.to > reader.from : field === VALUE && !raw) {
        raw = field === RAW_VALUE;
        valueFrom = reader.from;
        valueTo = reader.to;
      }
    }
    this.#spans.push(keyFrom, keyTo, valueFrom, valueTo);
    return !reader.broken;
  }

  /** The first header of that name; its bytes are not copied. */
  first(name: string): Buffer | undefined {
    const at = this.#find(name);
    return at < 0 ? undefined : this.#valueAt(at);
  }

  last(name: string): Buffer | undefined {
    for (let at = this.#spans.length - SPANS; at >= 0; at -= SPANS)
      if (this.#isNamed(at, name)) return this.#valueAt(at);
    return undefined;
  }

  /** The first header of that name, one character a byte. */
  text(name: string): string | undefined {
    const at = this.#find(name);
    return at < 0 ? undefined : this.#bytes.toString('latin1', this.#spans[at + 2] ?? 0, this.#spans[at + 3] ?? 0);
  }

  /** Whether the first header of that name is this text. */
  is(name: string, text: string): boolean {
    const at = this.#find(name);
    if (at < 0) return false;
    const from = this.#spans[at + 2] ?? 0;
    return (this.#spans[at + 3] ?? 0) - from === text.length && startsWith(this.#bytes, from, text);
  }

  /** Names that are in `names` or begin with `prefix`, each once. */
  present(names: ReadonlySet<string>, prefix: string): readonly string[] {
    let found: string[] | null = null;
    const byLength = namesByLength(names);
    for (let at = 0; at < this.#spans.length; at += SPANS) {
      const name = this.#isPrefixed(at, prefix) ? this.#nameAt(at) : this.#oneOf(at, byLength);
      if (name === null) continue;
      if (found === null) found = [name];
      else if (!found.includes(name)) found.push(name);
    }
    return found ?? NO_NAMES;
  }

  #find(name: string): number {
    for (let at = 0; at < this.#spans.length; at += SPANS) if (this.#isNamed(at, name)) return at;
    return -1;
  }

  #isNamed(at: number, name: string): boolean {
    return this.#nameLength(at) === name.length && this.#isPrefixed(at, name);
  }

  #isPrefixed(at: number, prefix: string): boolean {
    return this.#nameLength(at) >= prefix.length && startsWith(this.#bytes, this.#spans[at] ?? 0, prefix);
  }

  #oneOf(at: number, byLength: readonly (readonly string[] | undefined)[]): string | null {
    const names = byLength[this.#nameLength(at)];
    if (names === undefined) return null;
    for (const name of names) if (this.#isPrefixed(at, name)) return name;
    return null;
  }

  #nameLength(at: number): number {
    return (this.#spans[at + 1] ?? 0) - (this.#spans[at] ?? 0);
  }

  #nameAt(at: number): string {
    return this.#bytes.toString('latin1', this.#spans[at] ?? 0, this.#spans[at + 1] ?? 0);
  }

  #valueAt(at: number): Buffer {
    return this.#bytes.subarray(this.#spans[at + 2] ?? 0, this.#spans[at + 3] ?? 0);
  }
}

function startsWith(bytes: Buffer, from: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** The few sets that are asked for live as long as the process. */
const tables = new WeakMap<ReadonlySet<string>, readonly (readonly string[] | undefined)[]>();

function namesByLength(names: ReadonlySet<string>): readonly (readonly string[] | undefined)[] {
  const known = tables.get(names);
  if (known !== undefined) return known;
  const table: (string[] | undefined)[] = [];
  for (const name of names) {
    const same = table[name.length] ?? [];
    same.push(name);
    table[name.length] = same;
  }
  tables.set(names, table);
  return table;
}
