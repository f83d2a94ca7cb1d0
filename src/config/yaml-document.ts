import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import { messageOf } from '../util/app-error.ts';

/** One entry of a YAML mapping. */
export interface YamlEntry {
  readonly key: string;
  /** `file:line:column` of the key. */
  readonly keyAt: string;
  readonly value: YamlValue;
}

/** A value of a YAML file that knows where it stands. */
export interface YamlValue {
  /** `file:line:column`; the nearest thing around it when `path` leads nowhere. */
  at(path?: readonly (string | number)[]): string;
  /** Plain data. */
  readonly data: unknown;
  /** Text of a scalar as it is written, undefined for anything else. */
  readonly source: string | undefined;
  /** Entries of a mapping, undefined for anything else. */
  entries(): readonly YamlEntry[] | undefined;
  /** Items of a sequence, undefined for anything else. */
  items(): readonly YamlValue[] | undefined;
}

/** Reads YAML text. Never throws: what is wrong with it goes to `problems`, with its place. */
export function readYaml(text: string, file: string, problems: string[]): YamlValue | null {
  const lines = new LineCounter();
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  if (opensTooMuch(text)) {
    problems.push(`${place(0)}: ${TOO_DEEP}`);
    return null;
  }
  let document: Document;
  try {
    // With the level "silent" a second document would go unnoticed.
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  } catch (error) {
    problems.push(`${place(0)}: ${error instanceof RangeError ? TOO_DEEP : messageOf(error)}`);
    return null;
  }
  const deep = document.errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION');
  // What follows such an error is only the rest of the nest.
  if (deep !== undefined) {
    problems.push(`${place(deep.pos[0])}: ${TOO_DEEP}`);
    return null;
  }
  for (const { code, message, pos } of document.errors) {
    const what = code === 'MULTIPLE_DOCS' ? SECOND_DOCUMENT : firstLine(message);
    problems.push(`${place(pos[0])}: ${what}`);
  }
  if (document.errors.length > 0) return null;
  let loose = false;
  visit(document, {
    Collection: (_, node, path) => {
      if (path.length < MAX_DEPTH) return;
      loose = true;
      problems.push(`${place(node.range?.[0] ?? 0)}: ${TOO_DEEP}`);
      return visit.BREAK;
    },
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return;
      loose = true;
      problems.push(`${place(alias.range?.[0] ?? 0)}: alias *${alias.source} has no anchor`);
    },
  });
  if (loose) return null;
  try {
    // Of the whole document, since only then aliases of aliases are counted.
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    if (!deeperThan(data, MAX_DEPTH)) return yamlValue(document.contents as Node | null, document, place, 0);
    problems.push(`${place(0)}: ${TOO_DEEP}`);
  } catch (error) {
    const what = error instanceof RangeError ? TOO_DEEP : `aliases unfold to more than ${MAX_ALIASES} values`;
    problems.push(`${place(0)}: ${what}`);
  }
  return null;
}

/** Whether YAML text holds no value at all: blanks and comments, or null. */
export function isEmptyYaml(text: string): boolean {
  return readYaml(text, '', [])?.data === null;
}

const SECOND_DOCUMENT = 'a second YAML document starts here, but the file may hold only one';
const TOO_DEEP = 'is nested too deeply';
/** Far above what any key needs, far below what the stack takes. */
const MAX_DEPTH = 100;

/**
 * The parser descends into what is open, and where the stack ends in the middle of a regular expression, V8 ends the
 * process. Brackets in texts count too, which the distance to any sensible depth allows.
 */
function opensTooMuch(text: string): boolean {
  let open = 0;
  let dashes = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '[' || char === '{') open += 1;
    else if (char === ']' || char === '}') open -= 1;
    dashes = char === '-' ? dashes + 1 : char === ' ' ? dashes : 0;
    if (open > MOST_OPEN || dashes > MOST_OPEN) return true;
  }
  return false;
}
const MOST_OPEN = 1000;

/** Aliases may nest data deeper than its text. `seen` has the fewest levels that were left for a value. */
function deeperThan(data: unknown, levels: number, seen = new Map<object, number>()): boolean {
  if (typeof data !== 'object' || data === null) return false;
  if (levels === 0) return true;
  if ((seen.get(data) ?? Number.POSITIVE_INFINITY) <= levels) return false;
  seen.set(data, levels);
  return Object.values(data).some((child) => deeperThan(child, levels - 1, seen));
}

/** A few lines of aliases can else unfold to gigabytes. */
const MAX_ALIASES = 10_000;

type Place = (offset: number) => string;

function yamlValue(written: Node | null, document: Document, place: Place, fallback: number): YamlValue {
  const offset = written?.range?.[0] ?? fallback;
  const node = resolve(written, document);
  return {
    at: (path = []) => place(offsetAt(node, document, path, offset)),
    get data() {
      return node === null ? null : (node.toJS(document, { maxAliasCount: MAX_ALIASES }) as unknown);
    },
    source: isScalar(node) ? (node.source ?? String(node.value ?? '')) : undefined,
    entries: () =>
      isMap(node)
        ? node.items.map((pair: Pair) => {
            const key = pair.key as Node | null;
            const keyOffset = key?.range?.[0] ?? offset;
            return {
              key: keyText(key, document),
              keyAt: place(keyOffset),
              value: yamlValue(pair.value as Node | null, document, place, keyOffset),
            };
          })
        : undefined,
    items: () =>
      isSeq(node) ? node.items.map((item) => yamlValue(item as Node | null, document, place, offset)) : undefined,
  };
}

function resolve(node: Node | null, document: Document): Node | null {
  return isAlias(node) ? (node.resolve(document) ?? null) : node;
}

function offsetAt(
  start: Node | null,
  document: Document,
  path: readonly (string | number)[],
  fallback: number,
): number {
  let node = start;
  let offset = fallback;
  for (const step of path) {
    let next: Node | null | undefined;
    if (isMap(node)) {
      const pair = node.items.find((item) => keyText(item.key as Node | null, document) === String(step));
      next = pair === undefined ? undefined : ((pair.value ?? pair.key) as Node | null);
    } else if (isSeq(node) && typeof step === 'number') {
      next = node.items[step] as Node | undefined;
    }
    if (next === undefined || next === null) return offset;
    offset = next.range?.[0] ?? offset;
    node = resolve(next, document);
  }
  return offset;
}

function keyText(key: Node | null, document: Document): string {
  const node = resolve(key, document);
  if (isScalar(node)) return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
  return node === null ? '' : String(node);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}
