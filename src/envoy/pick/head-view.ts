import type { RequestHead } from '../../request/request-head.ts';
import type { HeaderSpans } from '../wire/header-spans.ts';

/** The headers of one message, looked up where they lie. Names are in lower case (envoy 3.1). */
export class HeadView implements RequestHead {
  readonly #headers: HeaderSpans;
  readonly endOfStream: boolean;
  /** Kept, since plan, decision and counting each ask for it. */
  #path: string | null = null;

  constructor(headers: HeaderSpans, endOfStream: boolean) {
    this.#headers = headers;
    this.endOfStream = endOfStream;
  }

  get method(): string {
    // What nearly all requests have needs no string of its own.
    return this.#headers.is(':method', 'POST') ? 'POST' : (this.#headers.text(':method') ?? '');
  }

  get path(): string {
    this.#path ??= this.#headers.text(':path') ?? '';
    return this.#path;
  }

  first(name: string): Uint8Array | undefined {
    // Envoy turns a client's host header into the pseudo header.
    return this.#headers.first(name) ?? (name === 'host' ? this.#headers.first(':authority') : undefined);
  }

  /** The first header of that name, read as Latin-1. */
  text(name: string): string | undefined {
    return this.#headers.text(name);
  }

  /** Those that are present of `names`, and of all names that begin with `prefix`; each once. */
  present(names: ReadonlySet<string>, prefix: string): readonly string[] {
    return this.#headers.present(names, prefix);
  }
}
