/** Configuration as plain values that know where they stand. */

export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

export type Tree = MapTree | ListTree | ScalarTree;

export interface MapTree {
  readonly kind: 'map';
  readonly place: Place;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Only a part of the whole is written here, as in a patch: what is missing may be set elsewhere. */
  readonly partial: boolean;
}

/** One member of a map. */
export interface Entry {
  /** Of the key. */
  readonly place: Place;
  readonly value: Tree;
}

export interface ListTree {
  readonly kind: 'list';
  readonly place: Place;
  readonly items: readonly Tree[];
}

export interface ScalarTree {
  readonly kind: 'scalar';
  readonly place: Place;
  readonly value: string | number | boolean | null;
  /** As it is written, without quotes. */
  readonly source: string;
}

export function showPlace({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

/** A map that stands nowhere in this form: other names for values that are written at their own places. */
export function partOf(place: Place, members: Readonly<Record<string, Tree | null>>): MapTree {
  const entries = new Map<string, Entry>();
  for (const [name, value] of Object.entries(members)) {
    if (value !== null) entries.set(name, { place: value.place, value });
  }
  return { kind: 'map', place, entries, partial: true };
}

/** The same with all that is not named known to be unset. */
export function wholeOf(place: Place, members: Readonly<Record<string, Tree | null>>): MapTree {
  return { ...partOf(place, members), partial: false };
}

export function listOf(place: Place, items: readonly (Tree | null)[]): ListTree {
  return { kind: 'list', place, items: items.filter((item) => item !== null) };
}

export function scalarOf(place: Place, value: string | number | boolean): ScalarTree {
  return { kind: 'scalar', place, value, source: String(value) };
}

/** The tree as a patch: whatever a map in it does not name may be set elsewhere. */
export function asPatch(tree: Tree): Tree {
  if (tree.kind === 'scalar') return tree;
  if (tree.kind === 'list') return { ...tree, items: tree.items.map(asPatch) };
  const entries = new Map<string, Entry>();
  for (const [name, { place, value }] of tree.entries) entries.set(name, { place, value: asPatch(value) });
  return { ...tree, entries, partial: true };
}

/** Two patches of one object as one: lists are joined, of two scalars the second counts. */
export function merged(first: Tree | null, second: Tree): Tree {
  if (first?.kind === 'list' && second.kind === 'list') return { ...first, items: [...first.items, ...second.items] };
  if (first?.kind !== 'map' || second.kind !== 'map') return second;
  const entries = new Map(first.entries);
  for (const [name, entry] of second.entries) {
    const old = entries.get(name);
    entries.set(name, old === undefined ? entry : { place: entry.place, value: merged(old.value, entry.value) });
  }
  return { ...first, entries, partial: first.partial && second.partial };
}

/** The value of a member, under its own name only; null when there is none. */
export function member(tree: Tree | null, ...names: readonly string[]): Tree | null {
  let at = tree;
  for (const name of names) at = at?.kind === 'map' ? (at.entries.get(name)?.value ?? null) : null;
  return at;
}

export function itemsOf(tree: Tree | null): readonly Tree[] {
  return tree?.kind === 'list' ? tree.items : [];
}

export function textOf(tree: Tree | null): string | undefined {
  return tree?.kind === 'scalar' && tree.value !== null ? tree.source : undefined;
}

/** Each value of the trees once, however often aliases repeat it; parents come before their children. */
export function* valuesIn(trees: Iterable<Tree>): Generator<Tree> {
  const seen = new Set<Tree>();
  const open = [...trees].reverse();
  for (let tree = open.pop(); tree !== undefined; tree = open.pop()) {
    if (seen.has(tree)) continue;
    seen.add(tree);
    yield tree;
    if (tree.kind === 'list') open.push(...tree.items.toReversed());
    if (tree.kind === 'map') open.push(...[...tree.entries.values()].map(({ value }) => value).reverse());
  }
}
