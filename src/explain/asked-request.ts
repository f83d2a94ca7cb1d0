import { SubsetHint } from '../picker/subset-hint.ts';
import type { RequestHead } from '../request/request-head.ts';
import type { Eligibility } from '../routing/eligibility.ts';

/** A request as somebody describes it who asks where it would go. */
export interface AskedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names in any case, as a client may type them; of several values of a name the first one counts. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Endpoints that the data plane allows (endpoint-picker-protocol 2); null: all. */
  readonly subset: readonly string[] | null;
}

/** The head that Envoy would show of it. A body of which nothing tells the length has its own. */
export class AskedHead implements RequestHead {
  readonly method: string;
  readonly path: string;
  readonly endOfStream: boolean;
  readonly #headers = new Map<string, Uint8Array>();

  constructor({ method, path, headers, body }: AskedRequest) {
    this.method = method;
    this.path = path;
    this.endOfStream = body.length === 0;
    for (const [name, value] of headers) {
      const lower = name.toLowerCase();
      if (!this.#headers.has(lower)) this.#headers.set(lower, Buffer.from(value));
    }
    if (this.endOfStream || this.#headers.has('content-length') || this.#headers.has('transfer-encoding')) return;
    this.#headers.set('content-length', Buffer.from(String(body.length)));
  }

  first(name: string): Uint8Array | undefined {
    return this.#headers.get(name);
  }
}

export function subsetOf({ subset }: AskedRequest): Eligibility | null {
  return subset === null ? null : new SubsetHint(subset);
}
