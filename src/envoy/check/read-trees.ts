import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import type { Entry, Place, Tree } from './tree.ts';

export interface ReadTrees {
  /** Documents that hold something, in order. */
  readonly trees: readonly Tree[];
  /** What cannot be read, as `file:line:column: text`. */
  readonly problems: readonly string[];
}

/** Reads YAML or JSON text with any number of documents. Never throws. */
export function readTrees(text: string, file: string): ReadTrees {
  const lines = new LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problems: string[] = [];
  const refuse = (offset: number, what: string): void => {
    const { line, column } = place(offset);
    problems.push(`${file}:${line}:${column}: ${what}`);
  };

  let documents: readonly Document[];
  try {
    documents = [...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })];
  } catch {
    refuse(0, TOO_DEEP);
    return { trees: [], problems };
  }
  const trees: Tree[] = [];
  for (const document of documents) {
    for (const { code, message, pos } of document.errors) {
      refuse(pos[0], code === 'RESOURCE_EXHAUSTION' ? TOO_DEEP : (message.split('\n', 1)[0] ?? message));
    }
    if (document.errors.length > 0 || document.contents === null) continue;
    const tree = new Builder(document, place, refuse).build();
    if (tree !== null && !(tree.kind === 'scalar' && tree.value === null)) trees.push(tree);
  }
  return { trees, problems };
}

const TOO_DEEP = 'is nested too deeply';
/** Far above what Envoy's messages nest to. */
const MAX_DEPTH = 200;
/** Values of a document with its aliases unfolded: a few lines of them can else stand for gigabytes. */
const MAX_VALUES = 2_000_000;

type Place_ = (offset: number) => Place;

class Builder {
  readonly #document: Document;
  readonly #place: Place_;
  readonly #refuse: (offset: number, what: string) => void;
  /** An anchored node becomes one tree, however often it is used. */
  readonly #built = new Map<Node, { readonly tree: Tree; readonly size: number }>();
  readonly #open = new Set<Node>();
  #failed = false;

  constructor(document: Document, place: Place_, refuse: (offset: number, what: string) => void) {
    this.#document = document;
    this.#place = place;
    this.#refuse = refuse;
  }

  /** Null when the document cannot be used; then why was told. */
  build(): Tree | null {
    const { tree } = this.#tree(this.#document.contents as Node | null, 0, 0);
    return this.#failed ? null : tree;
  }

  #tree(written: Node | null, offset: number, depth: number): { readonly tree: Tree; readonly size: number } {
    const at = written?.range?.[0] ?? offset;
    const node = isAlias(written) ? (written.resolve(this.#document) ?? null) : written;
    if (isAlias(written) && node === null) return this.#give(at, `alias *${written.source} has no anchor`);
    if (node === null) return { tree: this.#scalar(at, null, ''), size: 1 };
    if (depth > MAX_DEPTH) return this.#give(at, TOO_DEEP);
    if (this.#open.has(node)) return this.#give(at, 'an alias stands inside its own anchor');
    const known = this.#built.get(node);
    if (known !== undefined) return known;
    this.#open.add(node);
    const made = this.#make(node, at, depth);
    this.#open.delete(node);
    this.#built.set(node, made);
    return made.size > MAX_VALUES ? this.#give(at, `aliases unfold to more than ${MAX_VALUES} values`) : made;
  }

  #make(node: Node, at: number, depth: number): { readonly tree: Tree; readonly size: number } {
    const place = this.#place(node.range?.[0] ?? at);
    let size = 1;
    if (isMap(node)) {
      const entries = new Map<string, Entry>();
      for (const pair of node.items) {
        const key = pair.key as Node | null;
        const keyAt = key?.range?.[0] ?? at;
        const value = this.#tree(pair.value as Node | null, keyAt, depth + 1);
        size += value.size;
        entries.set(this.#keyText(key), { place: this.#place(keyAt), value: value.tree });
      }
      return { tree: { kind: 'map', place, entries, partial: false }, size };
    }
    if (isSeq(node)) {
      const items: Tree[] = [];
      for (const item of node.items) {
        const value = this.#tree(item as Node | null, at, depth + 1);
        size += value.size;
        items.push(value.tree);
      }
      return { tree: { kind: 'list', place, items }, size };
    }
    const { value, source } = isScalar(node) ? node : { value: null, source: '' };
    return { tree: this.#scalar(node.range?.[0] ?? at, value, source ?? ''), size };
  }

  #scalar(at: number, value: unknown, source: string): Tree {
    const place = this.#place(at);
    if (value === null || value === undefined) return { kind: 'scalar', place, value: null, source: '' };
    if (typeof value === 'number' || typeof value === 'boolean') return { kind: 'scalar', place, value, source };
    const text = typeof value === 'string' ? value : source;
    return { kind: 'scalar', place, value: text, source: text };
  }

  #keyText(key: Node | null): string {
    const node = isAlias(key) ? (key.resolve(this.#document) ?? null) : key;
    return isScalar(node) ? (typeof node.value === 'string' ? node.value : (node.source ?? '')) : '';
  }

  #give(at: number, what: string): { readonly tree: Tree; readonly size: number } {
    if (!this.#failed) this.#refuse(at, what);
    this.#failed = true;
    return { tree: this.#scalar(at, null, ''), size: 1 };
  }
}
