import { countPairs } from './runs.ts';

/** What a tree counts and branches by: units of one or more code units of a string. Hot path. */
export interface Alphabet {
  /** A number for the unit that begins at `at`. Different units may share one. */
  keyAt(text: string, at: number): number;
  /** Code units, at most `length`, that are whole units of both texts, which agree from `at` on for `length` code units. */
  whole(text: string, at: number, length: number): number;
  /** Units between two unit boundaries; `plain` when the text has as many code units as units. */
  count(text: string, from: number, to: number, plain: boolean): number;
  /** Code units that the first `units` units of a text take, in whole steps of what the tree branches by. */
  lengthOf(text: string, units: number, plain: boolean): number;
}

/** Unicode scalar values of text without half surrogate pairs (policies 1.6.5). */
export const SCALARS: Alphabet = {
  keyAt: (text, at) => text.codePointAt(at) ?? 0,
  whole: (text, at, length) => {
    if (length === 0) return 0;
    // Two pairs with the same first half agree up to their middle.
    return (text.charCodeAt(at + length - 1) & 0xfc00) === 0xd800 ? length - 1 : length;
  },
  count: (text, from, to, plain) => (plain ? to - from : to - from - countPairs(text.substring(from, to))),
  lengthOf: (text, units, plain) => {
    if (plain) return Math.min(units, text.length);
    let length = 0;
    for (let i = 0; i < units && length < text.length; i++) length += (text.codePointAt(length) ?? 0) > 0xffff ? 2 : 1;
    return length;
  },
};

/** Code units that a token takes. */
export const TOKEN_LENGTH = 2;

/** Tokens of two code units each, which branch and match by whole pages (policies 1.6.6). */
export class Pages implements Alphabet {
  readonly #length: number;

  constructor(tokens: number) {
    this.#length = tokens * TOKEN_LENGTH;
  }

  keyAt(text: string, at: number): number {
    let hash = 0;
    for (let i = at; i < at + this.#length; i += TOKEN_LENGTH) {
      const token = text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16);
      hash ^= Math.imul(token, 0xcc9e2d51);
      hash = Math.imul((hash << 13) | (hash >>> 19), 0x9e3779b1) + 0x165667b1;
    }
    return hash | 0;
  }

  whole(_text: string, _at: number, length: number): number {
    return length - (length % this.#length);
  }

  count(_text: string, from: number, to: number): number {
    return (to - from) / TOKEN_LENGTH;
  }

  lengthOf(text: string, units: number): number {
    return this.whole(text, 0, Math.min(units * TOKEN_LENGTH, text.length));
  }
}
