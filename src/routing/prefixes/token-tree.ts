import { Pages, TOKEN_LENGTH } from './alphabet.ts';
import { tokenMark, tokenMarkLength, tokenText, withoutTokenMark } from './namespace-mark.ts';
import type { PrefixMatch, PrefixTree } from './prefix-tree.ts';
import { RadixTree } from './radix-tree.ts';

const NO_HOLDERS: readonly string[] = [];

/** Prompts as token ids, by whole pages (policies 1.6.6). Hot path. */
export class TokenTree implements PrefixTree<Uint32Array> {
  readonly maxSize: number;
  readonly pageSize: number;
  readonly #tree: RadixTree;
  /** The key made into a text last: a prompt is inserted after it was matched. */
  #key: Uint32Array | null = null;
  #namespace: string | null = null;
  #text = '';
  /** What the last match found. */
  #matched = 0;

  /**
   * @param maxSize most tokens held, summed over workers
   * @param pageSize tokens of a page, at least 1
   */
  constructor(maxSize: number, pageSize: number) {
    this.maxSize = maxSize;
    this.pageSize = pageSize;
    this.#tree = new RadixTree(new Pages(pageSize), 'path', maxSize);
  }

  get size(): number {
    return this.#tree.size;
  }

  get holderCount(): number {
    return this.#tree.holderCount;
  }

  sizeOf(workerId: string): number {
    return this.#tree.sizeOf(workerId);
  }

  add(workerId: string): void {
    this.#tree.add(workerId);
  }

  match(key: Uint32Array, namespace: string | null, uses = true): PrefixMatch {
    const tokens = namespace === null ? withoutTokenMark(key) : key;
    this.#matched = 0;
    if (tokens.length >= this.pageSize) {
      const mark = namespace === null ? 0 : tokenMarkLength(this.pageSize);
      this.#tree.match(this.#textOf(key, tokens, namespace), false, uses);
      this.#matched = Math.max(0, this.#tree.matched - mark);
      if (!uses) this.#letGo();
    }
    return { matched: this.#matched, total: tokens.length };
  }

  holders(): readonly string[] {
    return this.#matched === 0 ? NO_HOLDERS : this.#tree.holdersAtEnd();
  }

  insert(key: Uint32Array, namespace: string | null, workerId: string): void {
    const tokens = namespace === null ? withoutTokenMark(key) : key;
    if (tokens.length < this.pageSize) return;
    const text = this.#textOf(key, tokens, namespace);
    this.#letGo();
    const most = this.#wholePages(this.maxSize) * TOKEN_LENGTH;
    this.#tree.insert(text.length <= most ? text : text.substring(0, most), false, workerId);
  }

  forget(workerId: string): void {
    this.#tree.forget(workerId);
  }

  sweep(): boolean {
    return this.#tree.sweep();
  }

  /** For checks and measurements. */
  get tree(): RadixTree {
    return this.#tree;
  }

  /**
   * Whole pages of the key as a string.
   *
   * @param key known by its identity, since it does not change
   * @param tokens those of the key that count
   */
  #textOf(key: Uint32Array, tokens: Uint32Array, namespace: string | null): string {
    if (key !== this.#key || namespace !== this.#namespace) {
      const pages = tokenText(tokens.subarray(0, this.#wholePages(tokens.length)));
      this.#text = namespace === null ? pages : tokenText(tokenMark(namespace, this.pageSize)) + pages;
      this.#key = key;
      this.#namespace = namespace;
    }
    return this.#text;
  }

  /** Or the last prompt would stay in memory. */
  #letGo(): void {
    this.#key = null;
    this.#text = '';
  }

  #wholePages(tokens: number): number {
    return tokens - (tokens % this.pageSize);
  }
}
