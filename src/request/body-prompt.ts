import { INPUT_IDS } from './body-members.ts';
import { cacheNamespace } from './cache-namespace.ts';
import type { EndpointKind } from './endpoint.ts';
import { readInputIds } from './input-ids.ts';
import type { JsonScan } from './json-scanner.ts';
import { NO_PROMPT, type Prompt } from './prompt.ts';
import { promptText } from './prompt-text.ts';
import type { RequestHead } from './request-head.ts';
import { ROUTING_TOKENS_HEADER, readRoutingTokens } from './routing-tokens.ts';

/**
 * The prompt of a request: of its head, and of its body where that was read. Hot path.
 *
 * @param head null where its token hint does not count
 * @param members the members of the body, null when it was not read
 */
export function promptOf(head: RequestHead | null, kind: EndpointKind, members: JsonScan | null): Prompt {
  return members === null && head?.first(ROUTING_TOKENS_HEADER) === undefined
    ? NO_PROMPT
    : new BodyPrompt(head, kind, members);
}

/** Makes each value when it is first asked for, at most once. */
export class BodyPrompt implements Prompt {
  readonly #head: RequestHead | null;
  readonly #kind: EndpointKind;
  readonly #scan: JsonScan | null;
  /** Undefined: not asked for yet. */
  #tokens: Uint32Array | null | undefined = undefined;
  #text: string | null | undefined = undefined;
  #namespace: string | null | undefined = undefined;

  /** @param scan the members of the body, null when it was not read */
  constructor(head: RequestHead | null, kind: EndpointKind, scan: JsonScan | null) {
    this.#head = head;
    this.#kind = kind;
    this.#scan = scan;
  }

  get tokens(): Uint32Array | null {
    if (this.#tokens === undefined) {
      this.#tokens = (this.#head === null ? null : readRoutingTokens(this.#head)) ?? this.#bodyTokens();
    }
    return this.#tokens;
  }

  get text(): string | null {
    if (this.#text === undefined) {
      this.#text = this.#scan === null || this.tokens !== null ? null : promptText(this.#kind, this.#scan);
    }
    return this.#text;
  }

  get namespace(): string | null {
    if (this.#namespace === undefined) {
      this.#namespace = this.#scan === null ? null : cacheNamespace(this.#kind, this.#scan);
    }
    return this.#namespace;
  }

  #bodyTokens(): Uint32Array | null {
    if (this.#scan === null || this.#kind !== 'generate') return null;
    const { bytes, starts, ends } = this.#scan;
    const start = starts[INPUT_IDS] ?? -1;
    return start < 0 ? null : readInputIds(bytes, start, ends[INPUT_IDS] ?? -1);
  }
}
