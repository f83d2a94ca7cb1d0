import { parseSeconds } from './durations.ts';
import { type Place, type Tree, textOf } from './tree.ts';

/**
 * A value of an Envoy configuration, looked up by field name in either of protobuf's spellings (`snake_case`, `camelCase`).
 * What is not written is a node, too: it stands where it would have to be written, and tells whether it is known to be unset
 * or may be set elsewhere, as in a patch.
 *
 * The readers (`text`, `number`, …) give `fallback`, the default of Envoy, for what is known to be unset, and undefined for
 * what cannot be known or read: a comparison with undefined is false, so that a trap stays silent.
 */
export class ConfigNode {
  readonly place: Place;
  /** Null for what is not written. */
  readonly tree: Tree | null;
  readonly #partial: boolean;

  constructor(tree: Tree | null, place: Place, partial = false) {
    // In protobuf's JSON, null stands for what is not set.
    this.tree = tree?.kind === 'scalar' && tree.value === null ? null : tree;
    this.place = place;
    this.#partial = partial;
  }

  static of(tree: Tree): ConfigNode {
    return new ConfigNode(tree, tree.place);
  }

  get exists(): boolean {
    return this.tree !== null;
  }

  /** Known to be unset. */
  get absent(): boolean {
    return this.tree === null && !this.#partial;
  }

  /** Not written, and possibly set elsewhere. */
  get open(): boolean {
    return this.tree === null && this.#partial;
  }

  /** A map of which only a part is written. */
  get partial(): boolean {
    return this.tree?.kind === 'map' && this.tree.partial;
  }

  /** The member at the end of a path of field names. */
  get(...names: readonly string[]): ConfigNode {
    let node: ConfigNode = this;
    for (const name of names) node = node.#member(name);
    return node;
  }

  #member(name: string): ConfigNode {
    const { tree } = this;
    if (tree?.kind !== 'map') return new ConfigNode(null, this.place, tree === null && this.#partial);
    const entry = tree.entries.get(name) ?? tree.entries.get(camelCase(name));
    if (entry === undefined) return new ConfigNode(null, this.place, tree.partial);
    return new ConfigNode(entry.value, entry.place);
  }

  items(): readonly ConfigNode[] {
    return this.tree?.kind === 'list' ? this.tree.items.map((item) => ConfigNode.of(item)) : [];
  }

  /** Members by the names that are written. */
  entries(): readonly (readonly [string, ConfigNode])[] {
    if (this.tree?.kind !== 'map') return [];
    return [...this.tree.entries].map(([name, { place, value }]) => [name, new ConfigNode(value, place)] as const);
  }

  text(fallback?: string): string | undefined {
    return this.absent ? fallback : textOf(this.tree);
  }

  /** All texts of a list. */
  texts(): readonly string[] {
    return this.items().flatMap((item) => item.text() ?? []);
  }

  /** Also a 64-bit number in quotes. */
  number(fallback?: number): number | undefined {
    if (this.absent) return fallback;
    const text = textOf(this.tree);
    const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
    return Number.isNaN(value) ? undefined : value;
  }

  bool(fallback?: boolean): boolean | undefined {
    if (this.absent) return fallback;
    const text = textOf(this.tree);
    return text === 'true' ? true : text === 'false' ? false : undefined;
  }

  /** A duration. */
  seconds(fallback?: number): number | undefined {
    if (this.absent) return fallback;
    if (this.tree?.kind === 'map')
      return (this.get('seconds').number(0) ?? 0) + (this.get('nanos').number(0) ?? 0) / 1e9;
    const text = textOf(this.tree);
    return text === undefined ? undefined : parseSeconds(text);
  }

  /** A value of an enumeration by its name, in upper case; `names` are in the order of their numbers. */
  choice(names: readonly string[], fallback?: string): string | undefined {
    if (this.absent) return fallback;
    const text = textOf(this.tree);
    return text === undefined ? undefined : (names[Number(text)] ?? text.toUpperCase());
  }
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Of an `Any`: the full name of its message; empty when it has none. */
export function typeOf(any: ConfigNode): string {
  const url = any.get('type_url').text() ?? any.get('@type').text() ?? '';
  return url.slice(url.lastIndexOf('/') + 1);
}

/** A named extension. */
export interface Extension {
  readonly node: ConfigNode;
  readonly name: string;
  /** Full name of the message of its configuration; empty when none is given. */
  readonly type: string;
  readonly config: ConfigNode;
}

/** Reads `{name, typed_config}`, also where the configuration is wrapped into a `TypedStruct`. */
export function extensionOf(node: ConfigNode): Extension {
  const any = node.get('typed_config');
  const wrapped = (any.get('@type').text() ?? '').endsWith('.TypedStruct');
  const config = wrapped ? any.get('value') : any;
  return { node, name: node.get('name').text() ?? '', type: typeOf(any), config };
}
