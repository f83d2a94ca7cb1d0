/**
 * Values a label may take. A list is closed: every one of its series is exported from the start (decisions 36).
 * `operator` values come from the fleet or the configuration. `request` values are chosen by clients: only the first
 * 1,024 distinct ones get series of their own, all others share `other` (policies 8.3).
 */
export type LabelValues = readonly string[] | 'operator' | 'request';

export interface Label<V extends LabelValues = LabelValues> {
  readonly name: string;
  readonly values: V;
}

export type Labels = readonly Label[];

/** One metric as it is declared: all that the exposition and docs/metrics.md tell of it. */
export interface Definition<L extends Labels = Labels> {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labels: L;
  /** Series that exist from the start; by default all combinations when every label has a list, else none. */
  readonly initial: readonly (readonly string[])[] | null;
  /** Upper bounds, ascending, without the infinite one; null unless it is a histogram. */
  readonly buckets: readonly number[] | null;
}

export interface CounterDefinition<L extends Labels = Labels> extends Definition<L> {
  readonly type: 'counter';
}

export interface GaugeDefinition<L extends Labels = Labels> extends Definition<L> {
  readonly type: 'gauge';
}

export interface HistogramDefinition<L extends Labels = Labels> extends Definition<L> {
  readonly type: 'histogram';
}

/** The arguments that name one series of `L`: a value per label, in the order of the labels. */
export type SeriesOf<L extends Labels> = {
  readonly [I in keyof L]: L[I] extends Label<infer V> ? (V extends readonly (infer S)[] ? S : string) : never;
};

export function label<const V extends LabelValues>(name: string, values: V): Label<V> {
  return { name, values };
}

export function counter<const L extends Labels>(
  name: string,
  help: string,
  labels: L,
  initial: readonly (readonly string[])[] | null = null,
): CounterDefinition<L> {
  return { type: 'counter', name, help, labels, initial, buckets: null };
}

export function gauge<const L extends Labels>(name: string, help: string, labels: L): GaugeDefinition<L> {
  return { type: 'gauge', name, help, labels, initial: null, buckets: null };
}

export function histogram<const L extends Labels>(
  name: string,
  help: string,
  buckets: readonly number[],
  labels: L,
): HistogramDefinition<L> {
  return { type: 'histogram', name, help, labels, initial: null, buckets };
}

/** Series of a definition that are exported before anything happened. */
export function initialSeries(definition: Definition): readonly (readonly string[])[] {
  if (definition.initial !== null) return definition.initial;
  let series: string[][] = [[]];
  for (const { values } of definition.labels) {
    if (typeof values === 'string') return [];
    series = series.flatMap((head) => values.map((value) => [...head, value]));
  }
  return series;
}
