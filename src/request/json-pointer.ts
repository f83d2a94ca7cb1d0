import { MAX_KEY_BYTES } from './header-readers.ts';
import { isInteger } from './json-integer.ts';
import { type JsonScan, NestedObject } from './json-scanner.ts';
import { decodeString } from './json-string.ts';
import { JsonWalker, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-walker.ts';
import { plainKeyOf } from './routing-key.ts';

/** Longest spelling of a key: every character as `\u0041`, and the quotes. */
const MAX_SPELLED_BYTES = 6 * MAX_KEY_BYTES + 2;

/** One reference token after the first: a member of an object, or the index of a list. */
interface Step {
  readonly member: NestedObject;
  /** -1 when the token is no index (RFC 6901 4). */
  readonly index: number;
}

/**
 * A place within a body (RFC 6901), made once and read from many bodies by walking over their bytes; nothing of them is
 * built. Of a member that stands twice the first one counts.
 */
export class JsonPointer {
  /** Member of the body's top level that it goes through. */
  readonly root: string;
  readonly #steps: readonly Step[];

  /** Null for text that is no pointer into an object. Backslashes are not taken. */
  static parse(text: string): JsonPointer | null {
    return /^(\/([^/~\\]|~[01])*)+$/.test(text) ? new JsonPointer(text) : null;
  }

  private constructor(text: string) {
    const [root = '', ...rest] = text
      .slice(1)
      .split('/')
      .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
    this.root = root;
    this.#steps = rest.map((token) => ({ member: new NestedObject([token]), index: indexOf(token) }));
  }

  /**
   * The raw key at this place: a string or an integer, the latter as it is spelled. Null when there is none, also where the
   * end of the bytes cuts it. Hot path.
   *
   * @param scan of a body, with `root` among its names
   */
  keyIn({ bytes, names, starts }: JsonScan): string | null {
    let start = starts[names.indexOf(this.root)] ?? -1;
    if (start < 0) return null;
    const walker = new JsonWalker(bytes, start);
    for (let i = 0; i < this.#steps.length; i++) {
      const step = this.#steps[i];
      if (step === undefined) return null;
      walker.at = start;
      if (bytes[start] === OPEN_BRACE) {
        step.member.read(walker);
        start = step.member.start(0);
      } else {
        start = bytes[start] === OPEN_BRACKET ? elementStart(walker, step.index) : -1;
      }
      if (start < 0) return null;
    }
    walker.at = start;
    return walker.skipValue() === 'whole' ? keyAt(bytes, start, walker.at) : null;
  }
}

function keyAt(bytes: Buffer, start: number, end: number): string | null {
  if (end - start > MAX_SPELLED_BYTES) return null;
  if (bytes[start] !== QUOTE)
    return isInteger(bytes, start, end) ? plainKeyOf(bytes.toString('latin1', start, end)) : null;
  const text = decodeString(bytes, start, end);
  return text === null ? null : plainKeyOf(text);
}

/** Where the element of a list begins, -1 when it has none of that index. */
function elementStart(walker: JsonWalker, index: number): number {
  if (index < 0) return -1;
  let more = walker.enterArray();
  for (let at = 0; more; at++) {
    if (at === index) return walker.at;
    if (walker.skipValue() !== 'whole') return -1;
    more = walker.nextElement();
  }
  return -1;
}

function indexOf(token: string): number {
  return /^(0|[1-9][0-9]{0,8})$/.test(token) ? Number(token) : -1;
}
