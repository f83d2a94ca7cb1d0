import type { BodyBytes } from '../../picker/answer.ts';
import type { RequestHead } from '../../request/request-head.ts';
import { HeaderSpans } from '../wire/header-spans.ts';
import { equals, WireReader } from '../wire/wire-reader.ts';

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

// One request is read at a time: the readers of the levels serve all.
const LEVELS = [new WireReader(), new WireReader(), new WireReader(), new WireReader()] as const;
/** What Envoy tells of a body that it did not send whole. It stands behind a client's header of that name. */
const PARTIAL_BODY = 'x-envoy-auth-partial-body';

/**
 * One `CheckRequest`, read where it lies: a name or value becomes text or a buffer when somebody asks for it. Both ways in
 * which Envoy sends headers are read, `header_map` and `headers`, and both of its bodies.
 */
export class CheckRequest implements RequestHead {
  readonly #bytes: Buffer;
  readonly #headers: HeaderSpans;
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
    this.#headers = new HeaderSpans(bytes);
  }

  /** Null when the bytes are no message. */
  static read(bytes: Buffer): CheckRequest | null {
    const request = new CheckRequest(bytes);
    return request.#descend(LEVELS[0].open(bytes, 0, bytes.length), 0) ? request : null;
  }

  get method(): string {
    // What nearly all requests have needs no string of its own.
    if (equals(this.#bytes, this.#methodFrom, this.#methodTo, 'POST')) return 'POST';
    return this.#bytes.toString('latin1', this.#methodFrom, this.#methodTo);
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
    const value = this.#headers.first(name);
    if (value !== undefined || name !== 'host' || this.#hostTo === this.#hostFrom) return value;
    // The client's host header; also where the operator forwards some headers only.
    return this.#bytes.subarray(this.#hostFrom, this.#hostTo);
  }

  /** Those that are named in `names` or begin with `prefix`, each once. */
  present(names: ReadonlySet<string>, prefix: string): readonly string[] {
    return this.#headers.present(names, prefix);
  }

  #isPartial(): boolean {
    return this.#headers.last(PARTIAL_BODY)?.toString('latin1') === 'true';
  }

  #isHttp1(): boolean {
    return this.#bytes.toString('latin1', this.#protocolFrom, this.#protocolTo).startsWith('HTTP/1');
  }

  /** Reads a message on the way from the outermost one to the HTTP request. */
  #descend(reader: WireReader, level: number): boolean {
    while (reader.next()) {
      if (reader.field !== WAY[level]) continue;
      const inner = (LEVELS[level + 1] ?? new WireReader()).open(this.#bytes, reader.from, reader.to);
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
          if (!this.#headers.add(from, to)) return false;
          break;
        case HEADER_MAP:
          if (!this.#headers.addMap(from, to)) return false;
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
}
