import type { RequestHead } from '../../request/request-head.ts';

/** One header as it arrives: current Envoys fill `rawValue`, very old ones `value`. */
export interface HeaderEntry {
  readonly key?: string | undefined;
  readonly value?: string | undefined;
  readonly rawValue?: Buffer | undefined;
}

const NO_NAMES: readonly string[] = [];

/** The headers of one message, looked up where they lie. Names are in lower case (envoy 3.1). */
export class HeadView implements RequestHead {
  readonly #entries: readonly HeaderEntry[];
  readonly endOfStream: boolean;
  /** Kept, since plan, decision and counting each ask for it. */
  #path: string | null = null;

  constructor(entries: readonly HeaderEntry[], endOfStream: boolean) {
    this.#entries = entries;
    this.endOfStream = endOfStream;
  }

  get method(): string {
    const bytes = this.first(':method');
    if (bytes === undefined) return '';
    // What nearly all requests have needs no string of its own.
    return POST.equals(bytes) ? 'POST' : Buffer.from(bytes).toString('latin1');
  }

  get path(): string {
    this.#path ??= this.text(':path') ?? '';
    return this.#path;
  }

  first(name: string): Uint8Array | undefined {
    for (const entry of this.#entries) if (entry.key === name) return bytesOf(entry);
    // Envoy turns a client's host header into the pseudo header.
    return name === 'host' ? this.first(':authority') : undefined;
  }

  /** The first header of that name, read as Latin-1. */
  text(name: string): string | undefined {
    for (const entry of this.#entries) if (entry.key === name) return bytesOf(entry).toString('latin1');
    return undefined;
  }

  /** Those that are present of `names`, and of all names that begin with `prefix`; each once. */
  present(names: ReadonlySet<string>, prefix: string): readonly string[] {
    let found: string[] | null = null;
    for (const { key } of this.#entries) {
      if (key === undefined || !(names.has(key) || key.startsWith(prefix))) continue;
      if (found === null) found = [key];
      else if (!found.includes(key)) found.push(key);
    }
    return found ?? NO_NAMES;
  }
}

function bytesOf(entry: HeaderEntry): Buffer {
  const raw = entry.rawValue;
  if (raw !== undefined && raw.length > 0) return raw;
  return entry.value === undefined || entry.value === '' ? EMPTY : Buffer.from(entry.value);
}

const EMPTY = Buffer.alloc(0);
const POST = Buffer.from('POST');
