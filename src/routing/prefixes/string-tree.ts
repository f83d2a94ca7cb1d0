import { SCALARS } from './alphabet.ts';
import { Epochs } from './epochs.ts';
import { TEXT_MARK_LENGTH, textMark, withoutTextMark } from './namespace-mark.ts';
import type { PrefixMatch, PrefixTree } from './prefix-tree.ts';
import { RadixTree } from './radix-tree.ts';
import { countPairs } from './runs.ts';

const NO_HOLDERS: readonly string[] = [];

/** Prompts as text, by Unicode scalar values (policies 1.6.5). Keys must be without half surrogate pairs. Hot path. */
export class StringTree implements PrefixTree<string> {
  readonly maxSize: number;
  readonly #tree: RadixTree;
  /** The text counted last, and its surrogate pairs: a prompt is inserted after it was matched. */
  #counted = '';
  #pairs = 0;

  /**
   * @param maxSize most characters held, summed over workers
   * @param epochs shared by all string trees of a service, as in SMG, or the tree's own
   */
  constructor(maxSize: number, epochs = new Epochs()) {
    this.maxSize = maxSize;
    this.#tree = new RadixTree(SCALARS, 'last', maxSize, epochs);
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

  match(key: string, namespace: string | null): PrefixMatch {
    const text = namespace === null ? withoutTextMark(key) : textMark(namespace) + key;
    const mark = namespace === null ? 0 : TEXT_MARK_LENGTH;
    const pairs = this.#pairsOf(text);
    this.#tree.match(text, pairs === 0);
    const matched = Math.max(0, this.#tree.matched - mark);
    const holders = matched === 0 ? NO_HOLDERS : this.#tree.holdersAtEnd();
    return { matched, total: text.length - pairs - mark, holders };
  }

  insert(key: string, namespace: string | null, workerId: string): void {
    const text = namespace === null ? withoutTextMark(key) : textMark(namespace) + key;
    const pairs = this.#pairsOf(text);
    this.#counted = '';
    this.#pairs = 0;
    this.#tree.insert(this.#capped(text, pairs), pairs === 0, workerId);
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

  #pairsOf(text: string): number {
    if (text !== this.#counted) {
      this.#pairs = countPairs(text);
      this.#counted = text;
    }
    return this.#pairs;
  }

  /** As much of the text as the tree may hold. */
  #capped(text: string, pairs: number): string {
    if (text.length - pairs <= this.maxSize) return text;
    return text.substring(0, SCALARS.lengthOf(text, this.maxSize, pairs === 0));
  }
}
