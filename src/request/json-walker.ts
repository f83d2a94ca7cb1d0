/**
 * Moves over JSON bytes without decoding them, in time linear in their number and without recursion. It finds where values
 * end and does not judge what stands inside them: that is the worker's business (decisions 8). Hot path.
 */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;

/** Bytes of a string looked at one by one before a native search, whose call costs as much as some 20 of them. */
const NEAR_BYTES = 24;
/** Numbers that an array must begin with before its end is searched natively. */
const FLAT_BYTES = 32;

/** What stood at the walker: a whole value, one that the end of the bytes cuts, or none. */
export type Skipped = 'whole' | 'cut' | 'none';

export class JsonWalker {
  readonly bytes: Buffer;
  /** Where the walker stands; at most `bytes.length`. */
  at: number;
  /** No native search for an array's end is tried up to here: one failed, and repeating it would cost quadratic time. */
  #flatBarrier = -1;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  /** The byte after white space, -1 at the end of the bytes. */
  next(): number {
    const bytes = this.bytes;
    for (; this.at < bytes.length; this.at++) {
      const byte = bytes[this.at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte ?? -1;
    }
    return -1;
  }

  /**
   * From an opening bracket to the first element, false when there is none. With `nextElement`, which goes on from behind an
   * element, this visits a list; what is no list ends the visit.
   */
  enterArray(): boolean {
    if (this.bytes[this.at] !== OPEN_BRACKET) return false;
    this.at++;
    const byte = this.next();
    return byte >= 0 && byte !== CLOSE_BRACKET;
  }

  nextElement(): boolean {
    if (this.next() !== COMMA) return false;
    this.at++;
    return this.next() >= 0;
  }

  /** Moves behind the value that starts here. */
  skipValue(): Skipped {
    const byte = this.bytes[this.at];
    if (byte === QUOTE) return this.skipString() ? 'whole' : 'cut';
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return this.#skipNested() ? 'whole' : 'cut';
    return this.#skipScalar();
  }

  /** Moves from an opening quote behind its closing one; false when the bytes end first. */
  skipString(): boolean {
    const bytes = this.bytes;
    const length = bytes.length;
    let i = this.at + 1;
    while (i < length) {
      const near = Math.min(i + NEAR_BYTES, length);
      while (i < near) {
        const byte = bytes[i];
        if (byte === QUOTE) {
          this.at = i + 1;
          return true;
        }
        i += byte === BACKSLASH ? 2 : 1;
      }
      const quote = bytes.indexOf(QUOTE, i);
      if (quote < 0) break;
      let run = quote;
      while (run > i && bytes[run - 1] === BACKSLASH) run--;
      i = quote + 1;
      // An even number of backslashes escape each other, an odd one leaves one for the quote.
      if (((quote - run) & 1) === 0) {
        this.at = i;
        return true;
      }
    }
    this.at = length;
    return false;
  }

  #skipNested(): boolean {
    const bytes = this.bytes;
    const length = bytes.length;
    let depth = 0;
    while (this.at < length) {
      const byte = bytes[this.at];
      if (byte === QUOTE) {
        if (!this.skipString()) return false;
        continue;
      }
      if (byte === OPEN_BRACKET && this.#skipFlatArray()) {
        if (depth === 0) return true;
        continue;
      }
      this.at++;
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return true;
    }
    return false;
  }

  /** Moves behind a long array of nothing but numbers, as token ids are; false, without a move, for any other. */
  #skipFlatArray(): boolean {
    const bytes = this.bytes;
    const inside = this.at + 1;
    if (inside <= this.#flatBarrier || inside + FLAT_BYTES > bytes.length) return false;
    for (let i = inside; i < inside + FLAT_BYTES; i++) {
      if (!isFlat(bytes[i])) return false;
    }
    const close = bytes.indexOf(CLOSE_BRACKET, inside);
    const content = bytes.subarray(inside, close < 0 ? bytes.length : close);
    if (close < 0 || content.includes(QUOTE) || content.includes(OPEN_BRACKET) || hasBrace(content)) {
      this.#flatBarrier = inside + content.length;
      return false;
    }
    this.at = close + 1;
    return true;
  }

  /** Numbers and literals. One that touches the end of the bytes may go on behind it, so it is cut. */
  #skipScalar(): Skipped {
    const bytes = this.bytes;
    const start = this.at;
    while (this.at < bytes.length && isScalar(bytes[this.at] ?? 0)) this.at++;
    if (this.at === bytes.length) return 'cut';
    return this.at === start ? 'none' : 'whole';
  }
}

/** A closing one ends a value too, where the bytes end before the bracket: beginning and whole have to read alike. */
function hasBrace(content: Buffer): boolean {
  return content.includes(OPEN_BRACE) || content.includes(CLOSE_BRACE);
}

/** Digits, signs, points, commas and blanks. */
function isFlat(byte = 0): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === COMMA || byte === 0x20 || byte === 0x2d || byte === 0x2e;
}

function isScalar(byte: number): boolean {
  const lower = byte | 0x20;
  if (lower >= 0x61 && lower <= 0x7a) return true;
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2b || byte === 0x2e;
}
