import type { CounterDefinition, Definition, GaugeDefinition, HistogramDefinition } from './definition.ts';
import type { AnyInstrument } from './exposition.ts';
import { renderText } from './exposition.ts';
import type { Counter, Gauge, Histogram } from './instruments.ts';
import { Cell, HistogramCell, Instrument } from './instruments.ts';
import { LabelCaps } from './label-cap.ts';
import { OWN_METRICS } from './own-metrics.ts';
import { SMG_METRICS } from './smg-metrics.ts';

/** Every metric of the service. The exposition, the types of `Metrics` and docs/metrics.md all follow from it. */
export const METRICS = { ...SMG_METRICS, ...OWN_METRICS };

type InstrumentOf<D> =
  D extends CounterDefinition<infer L>
    ? Counter<L>
    : D extends GaugeDefinition<infer L>
      ? Gauge<L>
      : D extends HistogramDefinition<infer L>
        ? Histogram<L>
        : never;

/** One instrument per row of the table, by the same name. */
export type Metrics = { readonly [K in keyof typeof METRICS]: InstrumentOf<(typeof METRICS)[K]> };

/** A fresh set of instruments; static series start at 0 (decisions 36). */
export function createMetrics(): Metrics {
  const caps = new LabelCaps();
  const entries = Object.entries(METRICS).map(([field, definition]) => [field, createInstrument(definition, caps)]);
  return Object.fromEntries(entries) as Metrics; // fields and label types are those of the table by construction
}

function createInstrument(definition: Definition, caps: LabelCaps): AnyInstrument {
  const { buckets } = definition;
  if (buckets === null) return new Instrument(definition, () => new Cell(), caps);
  return new Instrument(definition, () => new HistogramCell(buckets), caps);
}

/** The exposition text of these metrics, without those of the process. */
export function renderMetrics(metrics: Metrics): string {
  return renderText(Object.values<AnyInstrument>(metrics));
}
