import type { BodyBytes } from '../../picker/answer.ts';
import type { RequestHead } from '../../request/request-head.ts';
import { WireReader } from './wire-reader.ts';

/** Fields that lead from a `CheckRequest` to its HTTP request: `attributes`, `request`, `http`. */
const WAY = [1, 4, 2];
/** Fields of `AttributeContext.HttpRequest`. */
const METHOD = 2;
const HEADERS = 3;
const PATH = 4;
const HOST = 5;
const PROTOCOL = 10;
const BODY = 11;
const RAW_BODY = 12;
const HEADER_MAP = 13;
/** Fields of a header, alike in the map and in the list; the map has no raw value. */
const KEY = 1;
const VALUE = 2;
const RAW_VALUE = 3;

/** Numbers that are kept of one header: where its name and its value begin and end. */
const SPANS = 4;
const NO_NAMES: readonly string[] = [];
const POST = Buffer.from('POST');
/** What Envoy tells of a body that it did not send whole. It stands behind a client's header of that name. */
const PARTIAL_BODY = 'x-envoy-auth-partial-body';

/**
 * One `CheckRequest`, read where it lies: a name or value becomes text or a buffer when somebody asks for it. Both ways in
 * which Envoy sends headers are read, `header_map` and `headers`, and both of its bodies.
 */
export class CheckRequest implements RequestHead {
  readonly #bytes: Buffer;
  /** {@link SPANS} for each header, in their order. */
  readonly #headers: number[] = [];
  #path: string | null = null;
  #methodFrom = 0;
  #methodTo = 0;
  #pathFrom = 0;
  #pathTo = 0;
  #hostFrom = 0;
  #hostTo = 0;
  #protocolFrom = 0;
  #protocolTo = 0;
  #bodyFrom = 0;
  #bodyTo = 0;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Null when the bytes are no message. */
  static read(bytes: Buffer): CheckRequest | null {
    const request = new CheckRequest(bytes);
    const outer = new WireReader(bytes, 0, bytes.length);
    return request.#descend(outer, 0) ? request : null;
  }

  get method(): string {
    const bytes = this.#bytes.subarray(this.#methodFrom, this.#methodTo);
    // What nearly all requests have needs no string of its own.
    return POST.equals(bytes) ? 'POST' : bytes.toString('latin1');
  }

  get path(): string {
    this.#path ??= this.#bytes.toString('latin1', this.#pathFrom, this.#pathTo);
    return this.#path;
  }

  /** Envoy does not tell; on HTTP/1 the headers do (RFC 9112 6.3), and a length of 0 does always. */
  get endOfStream(): boolean {
    if (this.#bodyTo > this.#bodyFrom) return false;
    const length = this.first('content-length');
    if (length !== undefined) return length.length === 1 && length[0] === 0x30;
    return this.#isHttp1() && this.first('transfer-encoding') === undefined;
  }

  /** The body as far as Envoy sent it, null when it sent none. */
  get body(): BodyBytes | null {
    if (this.#bodyTo === this.#bodyFrom) return null;
    return { bytes: this.#bytes.subarray(this.#bodyFrom, this.#bodyTo), complete: !this.#isPartial() };
  }

  first(name: string): Uint8Array | undefined {
    const headers = this.#headers;
    for (let i = 0; i < headers.length; i += SPANS) if (this.#isNamed(i, name)) return this.#valueAt(i);
    // The client's host header; also where the operator forwards some headers only.
    return name === 'host' && this.#hostTo > this.#hostFrom
      ? this.#bytes.subarray(this.#hostFrom, this.#hostTo)
      : undefined;
  }

  /** Those that are named in `names` or begin with `prefix`, each once. */
  present(names: ReadonlySet<string>, prefix: string): readonly string[] {
    let found: string[] | null = null;
    for (let i = 0; i < this.#headers.length; i += SPANS) {
      const name = this.#isPrefixed(i, prefix) ? this.#nameAt(i) : this.#oneOf(i, names);
      if (name === null) continue;
      if (found === null) found = [name];
      else if (!found.includes(name)) found.push(name);
    }
    return found ?? NO_NAMES;
  }

  #isPartial(): boolean {
    for (let i = this.#headers.length - SPANS; i >= 0; i -= SPANS) {
      if (this.#isNamed(i, PARTIAL_BODY)) return this.#valueAt(i).toString('latin1') === 'true';
    }
    return false;
  }

  #isHttp1(): boolean {
    return this.#bytes.toString('latin1', this.#protocolFrom, this.#protocolTo).startsWith('HTTP/1');
  }

  #isNamed(header: number, name: string): boolean {
    return this.#nameLength(header) === name.length && this.#isPrefixed(header, name);
  }

  #isPrefixed(header: number, prefix: string): boolean {
    if (this.#nameLength(header) < prefix.length) return false;
    const from = this.#headers[header] ?? 0;
    for (let i = 0; i < prefix.length; i++) if (this.#bytes[from + i] !== prefix.charCodeAt(i)) return false;
    return true;
  }

  #oneOf(header: number, names: ReadonlySet<string>): string | null {
    for (const name of names) if (this.#isNamed(header, name)) return name;
    return null;
  }

  #nameLength(header: number): number {
    return (this.#headers[header + 1] ?? 0) - (this.#headers[header] ?? 0);
  }

  #nameAt(header: number): string {
    return this.#bytes.toString('latin1', this.#headers[header] ?? 0, this.#headers[header + 1] ?? 0);
  }

  #valueAt(header: number): Buffer {
    return this.#bytes.subarray(this.#headers[header + 2] ?? 0, this.#headers[header + 3] ?? 0);
  }

  /** Reads a message on the way from the outermost one to the HTTP request. */
  #descend(reader: WireReader, level: number): boolean {
    while (reader.next()) {
      if (reader.field !== WAY[level]) continue;
      const inner = new WireReader(this.#bytes, reader.from, reader.to);
      if (level + 1 < WAY.length ? !this.#descend(inner, level + 1) : !this.#readHttp(inner)) return false;
    }
    return !reader.broken;
  }

  #readHttp(reader: WireReader): boolean {
    while (reader.next()) {
      const { from, to } = reader;
      switch (reader.field) {
        case METHOD:
          this.#methodFrom = from;
          this.#methodTo = to;
          break;
        case HEADERS:
          if (!this.#readHeader(from, to)) return false;
          break;
        case HEADER_MAP:
          if (!this.#readHeaderMap(from, to)) return false;
          break;
        case PATH:
          this.#pathFrom = from;
          this.#pathTo = to;
          break;
        case HOST:
          this.#hostFrom = from;
          this.#hostTo = to;
          break;
        case PROTOCOL:
          this.#protocolFrom = from;
          this.#protocolTo = to;
          break;
        case BODY:
        case RAW_BODY:
          // Envoy fills one of the two.
          if (to === from) break;
          this.#bodyFrom = from;
          this.#bodyTo = to;
          break;
      }
    }
    return !reader.broken;
  }

  #readHeaderMap(from: number, to: number): boolean {
    const reader = new WireReader(this.#bytes, from, to);
    while (reader.next()) if (reader.field === 1 && !this.#readHeader(reader.from, reader.to)) return false;
    return !reader.broken;
  }

  #readHeader(from: number, to: number): boolean {
    const reader = new WireReader(this.#bytes, from, to);
    let keyFrom = 0;
    let keyTo = 0;
    let valueFrom = 0;
    let valueTo = 0;
    while (reader.next()) {
      if (reader.field === KEY) {
        keyFrom = reader.from;
        keyTo = reader.to;
      } else if ((reader.field === VALUE || reader.field === RAW_VALUE) && reader.to > reader.from) {
        valueFrom = reader.from;
        valueTo = reader.to;
      }
    }
    this.#headers.push(keyFrom, keyTo, valueFrom, valueTo);
    return !reader.broken;
  }
}
