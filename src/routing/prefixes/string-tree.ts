import { SCALARS } from './alphabet.ts';
import { TEXT_MARK_LENGTH, textMark, withoutTextMark } from './namespace-mark.ts';
import type { PrefixMatch, PrefixTree } from './prefix-tree.ts';
import { RadixTree } from './radix-tree.ts';
import { countPairs } from './runs.ts';

const NO_HOLDERS: readonly string[] = [];

/** Prompts as text, by Unicode scalar values (policies 1.6.5). Keys must be without half surrogate pairs. Hot path. */
export class StringTree implements PrefixTree<string> {
  readonly maxSize: number;
  readonly #tree: RadixTree;
  /** The key prepared last, its text and the surrogate pairs in it: a prompt is inserted after it was matched. */
  #key = '';
  #namespace: string | null = null;
  #text = '';
  #pairs = 0;
  /** What the last match found. */
  #matched = 0;

  /** @param maxSize most characters held, summed over workers */
  constructor(maxSize: number) {
    this.maxSize = maxSize;
    this.#tree = new RadixTree(SCALARS, 'last', maxSize);
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

  match(key: string, namespace: string | null, uses = true): PrefixMatch {
    this.#prepare(key, namespace);
    const mark = namespace === null ? 0 : TEXT_MARK_LENGTH;
    const total = this.#text.length - this.#pairs - mark;
    this.#tree.match(this.#text, this.#pairs === 0, uses);
    this.#matched = Math.max(0, this.#tree.matched - mark);
    // No insert follows that would let go of it.
    if (!uses) this.#prepare('', null);
    return { matched: this.#matched, total };
  }

  holders(): readonly string[] {
    return this.#matched === 0 ? NO_HOLDERS : this.#tree.holdersAtEnd();
  }

  insert(key: string, namespace: string | null, workerId: string): void {
    this.#prepare(key, namespace);
    const text = this.#text;
    const pairs = this.#pairs;
    this.#prepare('', null); // or the last prompt would stay in memory
    this.#tree.insert(this.#capped(text, pairs), pairs === 0, workerId);
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

  #prepare(key: string, namespace: string | null): void {
    if (key === this.#key && namespace === this.#namespace) return;
    this.#key = key;
    this.#namespace = namespace;
    this.#text = namespace === null ? withoutTextMark(key) : textMark(namespace) + key;
    this.#pairs = countPairs(this.#text);
  }

  /** As much of the text as the tree may hold. */
  #capped(text: string, pairs: number): string {
    if (text.length - pairs <= this.maxSize) return text;
    return text.substring(0, SCALARS.lengthOf(text, this.maxSize, pairs === 0));
  }
}
