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
  let document: Document;
  try {
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
  } catch (error) {
    problems.push(`${place(0)}: ${messageOf(error)}`);
    return null;
  }
  for (const error of document.errors) problems.push(`${place(error.pos[0])}: ${firstLine(error.message)}`);
  if (document.errors.length > 0) return null;
  let loose = false;
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return;
      loose = true;
      problems.push(`${place(alias.range?.[0] ?? 0)}: alias *${alias.source} has no anchor`);
    },
  });
  if (loose) return null;
  try {
    // Of the whole document, since only then aliases of aliases are counted.
    document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    problems.push(`${place(0)}: aliases unfold to more than ${MAX_ALIASES} values`);
    return null;
  }
  return yamlValue(document.contents as Node | null, document, place, 0);
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
