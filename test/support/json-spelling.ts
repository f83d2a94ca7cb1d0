/** A JSON value as some client may spell it: any order of members, white space, escapes, and repeated members behind. */
export class JsonSpelling {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  write(value: unknown): string {
    return this.#space() + this.#value(value) + this.#space();
  }

  #value(value: unknown): string {
    if (typeof value === 'string') return this.#string(value);
    if (Array.isArray(value)) return `[${this.#space()}${value.map((each) => this.write(each)).join(',')}]`;
    if (typeof value === 'object' && value !== null) return this.#object(value);
    return JSON.stringify(value) ?? 'null';
  }

  #object(value: object): string {
    const entries = Object.entries(value);
    for (let i = entries.length - 1; i > 0; i--) {
      const j = this.#below(i + 1);
      [entries[i], entries[j]] = [entries[j]!, entries[i]!];
    }
    const members = entries.map(([name, each]) => this.#member(name, each));
    for (const [name] of entries) if (this.#below(8) === 0) members.push(this.#member(name, 'a repetition'));
    return `{${this.#space()}${members.join(',')}${this.#space()}}`;
  }

  #member(name: string, value: unknown): string {
    return `${this.#space()}${this.#string(name)}${this.#space()}:${this.write(value)}`;
  }

  #string(text: string): string {
    let out = '';
    for (const character of text) {
      const choice = this.#below(12);
      if (choice === 0) for (const unit of character.split('')) out += escaped(unit);
      else if (choice === 1 && character === '/') out += '\\/';
      else out += JSON.stringify(character).slice(1, -1);
    }
    return `"${out}"`;
  }

  #space(): string {
    return this.#below(6) === 0 ? [' ', '\n', '\t', '\r\n'][this.#below(4)]! : '';
  }

  /** Xorshift: the same seed spells the same. */
  #below(bound: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % bound;
  }
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
