import { xxh3 } from '../util/xxh3.ts';
import type { EndpointKind } from './endpoint.ts';
import type { JsonPointer } from './json-pointer.ts';
import type { JsonScan } from './json-scanner.ts';
import { openingText } from './prompt-text.ts';
import { ridKeyOf } from './routing-key.ts';

/** The keys that a body may hold. */
export interface BodyKeys {
  /** Of `rid`: stripped and within its cap (sticky-sessions 2.1–2.3); null when there is none. */
  readonly rid: string | null;
  /** The raw key at a place of the body; null when there is none. */
  at(pointer: JsonPointer): string | null;
  /** Digest of how the conversation began, as 16 lower-case hex digits; null when the body does not tell. */
  readonly opening: string | null;
}

/** The keys of a body that was scanned. But for `rid`, each is read when it is first asked for, at most once. */
export class ScannedKeys implements BodyKeys {
  readonly rid: string | null;
  readonly #kind: EndpointKind;
  readonly #scan: JsonScan;
  /** Undefined: not asked for yet. */
  #opening: string | null | undefined = undefined;
  /** Null: no pointer was asked for yet. A decision asks several times, and each walk is as long as the body may be. */
  #found: Map<JsonPointer, string | null> | null = null;

  /** @param rid as sent, null for none */
  constructor(kind: EndpointKind, scan: JsonScan, rid: string | null) {
    this.rid = rid === null ? null : ridKeyOf(rid);
    this.#kind = kind;
    this.#scan = scan;
  }

  at(pointer: JsonPointer): string | null {
    this.#found ??= new Map();
    let key = this.#found.get(pointer);
    if (key === undefined) {
      key = pointer.keyIn(this.#scan);
      this.#found.set(pointer, key);
    }
    return key;
  }

  get opening(): string | null {
    if (this.#opening === undefined) {
      const text = openingText(this.#kind, this.#scan);
      this.#opening = text === '' ? null : xxh3(Buffer.from(text));
    }
    return this.#opening;
  }
}
