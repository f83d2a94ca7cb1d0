import { type Body, FULL_DUPLEX, type Header, type Plan, type ResponsePlan } from './plan.ts';

export interface RequestOptions {
  readonly path: string;
  /** Model named in bodies; null leaves it out. */
  readonly model: string | null;
  /** Body of every ordinary request; null makes a chat request, each with a text of its own. */
  readonly body: Buffer | null;
}

const PROMPT = 'endpoint picker conformance';

/** Makes the requests of the checks. Each is new: a picker that goes by prompts or ids sees no two alike. */
export class Requests {
  readonly #options: RequestOptions;
  /** Keeps runs apart. */
  readonly #run: string;
  #count = 0;

  constructor(options: RequestOptions, run: string) {
    this.#options = options;
    this.#run = run;
  }

  get path(): string {
    return this.#options.path;
  }

  /** Whether bodies are known to name a model. */
  get namesModel(): boolean {
    return this.#options.model !== null;
  }

  /** A name that was not used before. */
  unique(): string {
    this.#count += 1;
    return `${this.#run}-${this.#count}`;
  }

  /** Headers of a request as Envoy shows them. */
  headers(method: string, path: string, more: readonly Header[] = []): readonly Header[] {
    const lines: Header[] = [
      [':method', method],
      [':path', path],
      [':scheme', 'http'],
      [':authority', 'conformance.test'],
      ['user-agent', 'smg-envoy-conformance'],
      ['x-request-id', this.unique()],
    ];
    return [...lines, ...more];
  }

  /** A chat request, or what the operator gave. */
  chat(): Buffer {
    return this.#options.body ?? this.#json(this.#text());
  }

  /** A body of exactly that size: a chat request where it fits, else text. */
  sized(bytes: number): { readonly body: Buffer; readonly type: string } {
    const empty = this.#json('');
    if (bytes <= empty.length) return { body: Buffer.alloc(bytes, 'x'), type: 'text/plain' };
    const text = `${this.#text()} `;
    const room = bytes - empty.length;
    return { body: this.#json(text.repeat(Math.ceil(room / text.length)).slice(0, room)), type: 'application/json' };
  }

  /** The usual plan: a chat request in full duplex without a response phase. */
  plan(title: string, changes: Partial<Plan> & { readonly more?: readonly Header[] } = {}): Plan {
    const { more = [], ...rest } = changes;
    const body = rest.body === undefined ? whole(this.chat()) : rest.body;
    return {
      title,
      mode: FULL_DUPLEX,
      headers: body === null ? this.headers('GET', '/v1/models', more) : this.posting(body, 'application/json', more),
      metadata: null,
      metadataOn: 'all',
      pauseMs: 0,
      response: null,
      ignoresTrailers: false,
      close: 'graceful',
      ...rest,
      body,
    };
  }

  /** Headers of a POST with that body. */
  posting(body: Body, type: string, more: readonly Header[] = []): readonly Header[] {
    const length = body.pieces.reduce((sum, piece) => sum + piece.length, 0);
    const own: Header[] = [['content-type', type]];
    if (body.end !== 'trailers') own.push(['content-length', String(length)]);
    return this.headers('POST', this.path, [...own, ...more]);
  }

  /** Begins with what changes: prompts with a common beginning are sent to one endpoint by pickers that go by prefixes. */
  #text(): string {
    this.#count += 1;
    return `${this.#count} ${this.#run} ${PROMPT}`;
  }

  #json(content: string): Buffer {
    const model = this.#options.model;
    const message = { messages: [{ role: 'user', content }] };
    return Buffer.from(JSON.stringify(model === null ? message : { model, ...message }));
  }
}

/** A body that comes in one piece. */
export function whole(bytes: Buffer): Body {
  return { pieces: [bytes], end: 'flag' };
}

/** A worker's answer with that served endpoint reported, where there is one (endpoint-picker-protocol 5). */
export function served(endpoint: string | null): ResponsePlan {
  return {
    headers: [
      [':status', '200'],
      ['content-type', 'application/json'],
    ],
    body: { pieces: [Buffer.from('{"choices":[]}')], end: 'flag' },
    metadata: endpoint === null ? null : { 'envoy.lb': { 'x-gateway-destination-endpoint-served': endpoint } },
    attributes: null,
  };
}
