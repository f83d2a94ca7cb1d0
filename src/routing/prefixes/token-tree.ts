import { Pages, TOKEN_LENGTH } from './alphabet.ts';
import { Epochs } from './epochs.ts';
import { tokenMark, tokenMarkLength, tokenText, withoutTokenMark } from './namespace-mark.ts';
import type { PrefixMatch, PrefixTree } from './prefix-tree.ts';
import { RadixTree } from './radix-tree.ts';

const NO_HOLDERS: readonly string[] = [];

/** Prompts as token ids, by whole pages (policies 1.6.6). Hot path. */
export class TokenTree implements PrefixTree<Uint32Array> {
  readonly maxSize: number;
  readonly pageSize: number;
  readonly #tree: RadixTree;

  /**
   * @param maxSize most tokens held, summed over workers
   * @param pageSize tokens of a page, at least 1
   * @param epochs shared by all token trees of a service, as in SMG, or the tree's own
   */
  constructor(maxSize: number, pageSize: number, epochs = new Epochs()) {
    this.maxSize = maxSize;
    this.pageSize = pageSize;
    this.#tree = new RadixTree(new Pages(pageSize), 'path', maxSize, epochs);
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

  match(key: Uint32Array, namespace: string | null): PrefixMatch {
    const tokens = namespace === null ? withoutTokenMark(key) : key;
    if (tokens.length < this.pageSize) return { matched: 0, total: tokens.length, holders: NO_HOLDERS };
    const mark = namespace === null ? 0 : tokenMarkLength(this.pageSize);
    this.#tree.match(this.#text(tokens, namespace), false);
    const matched = Math.max(0, this.#tree.matched - mark);
    const holders = matched === 0 ? NO_HOLDERS : this.#tree.holdersAtEnd();
    return { matched, total: tokens.length, holders };
  }

  insert(key: Uint32Array, namespace: string | null, workerId: string): void {
    const tokens = namespace === null ? withoutTokenMark(key) : key;
    if (tokens.length < this.pageSize) return;
    const text = this.#text(tokens, namespace);
    const most = this.#wholePages(this.maxSize) * TOKEN_LENGTH;
    this.#tree.insert(text.length <= most ? text : text.substring(0, most), false, workerId);
  }

  forget(workerId: string): void {
    this.#tree.forget(workerId);
  }

  evict(most: number): boolean {
    return this.#tree.evict(most);
  }

  sweep(): boolean {
    return this.#tree.sweep();
  }

  /** For checks and measurements. */
  get tree(): RadixTree {
    return this.#tree;
  }

  /** Whole pages of the key as a string. */
  #text(tokens: Uint32Array, namespace: string | null): string {
    const text = tokenText(tokens.subarray(0, this.#wholePages(tokens.length)));
    return namespace === null ? text : tokenText(tokenMark(namespace, this.pageSize)) + text;
  }

  #wholePages(tokens: number): number {
    return tokens - (tokens % this.pageSize);
  }
}
