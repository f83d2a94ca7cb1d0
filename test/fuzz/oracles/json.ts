/**
 * JSON by the letter of RFC 8259, as slow and plain as can be. Of a member that stands twice the first one counts, as for our
 * scanner, where `JSON.parse` takes the last.
 */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  readonly members: ReadonlyMap<string, Json>;
  /** Names that stand more than once. */
  readonly repeated: ReadonlySet<string>;
}

/** A scalar is told apart from an object: lists and scalars stand for themselves. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined for what is no JSON. */
export function parseJson(text: string): Json | undefined {
  const parser = new Parser(text);
  const value = parser.value();
  return value !== undefined && parser.atEnd() ? value : undefined;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const BLANKS = /[ \t\r\n]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORDS: readonly [string, Json][] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    this.#match(BLANKS);
    return this.#at === this.#text.length;
  }

  value(): Json | undefined {
    this.#match(BLANKS);
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
    }
    for (const [word, value] of WORDS) if (this.#take(word)) return value;
    const number = this.#match(NUMBER);
    return number === undefined ? undefined : Number(number);
  }

  #object(): Json | undefined {
    const members = new Map<string, Json>();
    const repeated = new Set<string>();
    this.#at += 1;
    this.#match(BLANKS);
    if (this.#take('}')) return { members, repeated };
    do {
      this.#match(BLANKS);
      const name = this.#string();
      this.#match(BLANKS);
      if (name === undefined || !this.#take(':')) return undefined;
      const value = this.value();
      if (value === undefined) return undefined;
      if (members.has(name)) repeated.add(name);
      else members.set(name, value);
      this.#match(BLANKS);
    } while (this.#take(','));
    return this.#take('}') ? { members, repeated } : undefined;
  }

  #array(): Json | undefined {
    const list: Json[] = [];
    this.#at += 1;
    this.#match(BLANKS);
    if (this.#take(']')) return list;
    do {
      const value = this.value();
      if (value === undefined) return undefined;
      list.push(value);
      this.#match(BLANKS);
    } while (this.#take(','));
    return this.#take(']') ? list : undefined;
  }

  #string(): string | undefined {
    const raw = this.#match(STRING);
    return raw === undefined ? undefined : (JSON.parse(raw) as string);
  }

  #take(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) return undefined;
    this.#at += found.length;
    return found;
  }
}
