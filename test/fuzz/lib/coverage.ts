import { readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';

const RAN = 1;
const NEVER_RAN = 2;

/** A function of the code under test; one byte for each of its characters. */
interface Seen {
  readonly start: number;
  readonly marks: Uint8Array;
}

/**
 * Branches of the code under test that ran, as V8 counts them itself. It has to begin before that code is loaded: what V8 has
 * compiled by then is counted by whole functions only.
 */
export class Coverage {
  readonly #session = new Session();
  #sources: readonly string[] = [];
  /** Of each file its functions, the outer before the inner. */
  readonly #files = new Map<string, Map<string, Seen>>();
  /** What the last answer changed. */
  readonly #changed: { readonly marks: Uint8Array; readonly before: Uint8Array }[] = [];

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** @param sources parts of the paths whose branches count */
  watch(sources: readonly string[]): void {
    this.#sources = sources;
  }

  /** Whether anything ran for the first time since the last call. */
  grew(): boolean {
    this.#changed.length = 0;
    this.#session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error) throw error;
      for (const script of taken.result) {
        if (this.#sources.some((source) => script.url.includes(source))) this.#add(script);
      }
    });
    return this.#changed.length > 0;
  }

  /** Forgets what the last answer of `grew` was about: the same inputs, one by one, tell which of them it was. */
  rewind(): void {
    for (const { marks, before } of this.#changed) marks.set(before);
  }

  /** Lines of which a branch never ran, as `file:line: text`. */
  missed(): string[] {
    const missed: string[] = [];
    for (const [url, functions] of this.#files) {
      const text = readFileSync(fileURLToPath(url), 'utf8');
      const marks = painted(text.length, functions);
      const name = url.slice(url.lastIndexOf('/src/') + 1);
      let at = 0;
      for (const [index, line] of text.split('\n').entries()) {
        const isCold = [...line].some((char, i) => marks[at + i] === NEVER_RAN && !' \t{}();'.includes(char));
        if (isCold) missed.push(`${name}:${index + 1}: ${line.trim()}`);
        at += line.length + 1;
      }
    }
    return missed;
  }

  /** Share of the characters that ran. */
  get share(): number {
    let ran = 0;
    let all = 0;
    for (const [url, functions] of this.#files) {
      for (const mark of painted(readFileSync(fileURLToPath(url), 'utf8').length, functions)) {
        if (mark !== 0) all++;
        if (mark === RAN) ran++;
      }
    }
    return all === 0 ? 0 : ran / all;
  }

  close(): void {
    this.#session.disconnect();
  }

  #add(script: Profiler.ScriptCoverage): void {
    let functions = this.#files.get(script.url);
    if (functions === undefined) {
      functions = new Map();
      this.#files.set(script.url, functions);
    }
    for (const { ranges } of script.functions) {
      const whole = ranges[0];
      if (whole === undefined) continue;
      const start = whole.startOffset;
      const key = `${start}:${whole.endOffset}`;
      let seen = functions.get(key);
      if (seen === undefined) {
        seen = { start, marks: new Uint8Array(whole.endOffset - start).fill(NEVER_RAN) };
        functions.set(key, seen);
      }
      const { marks } = seen;
      const now = new Uint8Array(marks.length);
      for (const range of ranges) {
        now.fill(range.count > 0 ? RAN : NEVER_RAN, range.startOffset - start, range.endOffset - start);
      }
      if (!now.some((mark, i) => mark === RAN && marks[i] === NEVER_RAN)) continue;
      this.#changed.push({ marks, before: marks.slice() });
      for (let i = 0; i < now.length; i++) if (now[i] === RAN) marks[i] = RAN;
    }
  }
}

/** What stands within an inner function is its own. */
function painted(length: number, functions: ReadonlyMap<string, Seen>): Uint8Array {
  const all = new Uint8Array(length);
  const ordered = [...functions.values()].sort((a, b) => a.start - b.start || b.marks.length - a.marks.length);
  for (const { start, marks } of ordered) all.set(marks, start);
  return all;
}
