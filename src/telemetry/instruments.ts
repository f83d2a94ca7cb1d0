/**
 * Counters, gauges and histograms of the hot path (node-notes 7): a series is a preallocated cell, counting is one
 * addition. `cell` finds a series by one map look-up per label; keep its answer where the labels do not change.
 */
import type { Definition, Labels, SeriesOf } from './definition.ts';
import { initialSeries } from './definition.ts';
import type { LabelCap } from './label-cap.ts';
import { LabelCaps } from './label-cap.ts';

/** One series of a counter or gauge. Counters only ever add to it. */
export class Cell {
  value = 0;
}

/** One series of a histogram. */
export class HistogramCell {
  readonly bounds: readonly number[];
  /** Observations per bucket, not cumulative; the last one is the infinite bucket. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const bounds = this.bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

/** A series or the way to it: one level of nodes per label. */
interface Node<S> {
  children: Map<string, Node<S>> | null;
  series: S | null;
}

/** All series of one metric. */
export class Instrument<L extends Labels, S> {
  readonly definition: Definition<L>;
  readonly #create: () => S;
  /** Cap of each label, null where the values are not the client's. */
  readonly #caps: readonly (LabelCap | null)[];
  readonly #root: Node<S> = { children: null, series: null };
  #collect: (() => void) | null = null;

  constructor(definition: Definition<L>, create: () => S, caps: LabelCaps = new LabelCaps()) {
    this.definition = definition;
    this.#create = create;
    this.#caps = definition.labels.map(({ name, values }) => (values === 'request' ? caps.of(name) : null));
    for (const series of initialSeries(definition)) this.#find(series);
  }

  /** The series of these label values; made on first use. */
  cell(...values: SeriesOf<L>): S {
    return this.#find(values as readonly string[]); // SeriesOf maps every label to a string type
  }

  /** Ends a series; it is exported no more until its next use. */
  remove(...values: SeriesOf<L>): void {
    let node = this.#root;
    const path = values as readonly string[];
    const last = path.length - 1;
    for (let i = 0; i < last; i++) {
      const next = node.children?.get(path[i] ?? '');
      if (next === undefined) return;
      node = next;
    }
    const value = path[last];
    if (value !== undefined) node.children?.delete(value);
  }

  /** Ends all series: for gauges that are written anew at each scrape. */
  clear(): void {
    this.#root.children = null;
    this.#root.series = null;
  }

  /** Runs `collect` before each scrape, to write values that live elsewhere. The last one set holds. */
  onScrape(collect: () => void): void {
    this.#collect = collect;
  }

  collect(): void {
    this.#collect?.();
  }

  /** Visits every series in the order of first use, label by label. */
  forEach(visit: (labelValues: readonly string[], series: S) => void): void {
    walk(this.#root, [], visit);
  }

  #find(values: readonly string[]): S {
    let node = this.#root;
    for (let i = 0; i < values.length; i++) node = this.#child(node, i, values[i] ?? '');
    if (node.series === null) node.series = this.#create();
    return node.series;
  }

  #child(parent: Node<S>, labelIndex: number, value: string): Node<S> {
    if (parent.children === null) parent.children = new Map();
    const known = parent.children.get(value);
    if (known !== undefined) return known;
    const cap = this.#caps[labelIndex] ?? null;
    const admitted = cap === null ? value : cap.admit(value);
    let child = parent.children.get(admitted);
    if (child === undefined) {
      child = { children: null, series: null };
      parent.children.set(admitted, child);
    }
    return child;
  }
}

function walk<S>(node: Node<S>, path: string[], visit: (labelValues: readonly string[], series: S) => void): void {
  if (node.series !== null) visit(path, node.series);
  if (node.children === null) return;
  for (const [value, child] of node.children) {
    path.push(value);
    walk(child, path, visit);
    path.pop();
  }
}

export type Counter<L extends Labels = Labels> = Instrument<L, Cell>;
export type Gauge<L extends Labels = Labels> = Instrument<L, Cell>;
export type Histogram<L extends Labels = Labels> = Instrument<L, HistogramCell>;
