/**
 * Prometheus text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
 */
import type { Labels } from './definition.ts';
import type { Instrument } from './instruments.ts';
import { Cell, HistogramCell } from './instruments.ts';

export const EXPOSITION_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Any instrument, whatever its labels: what a scrape needs of it. */
export type AnyInstrument = Pick<Instrument<Labels, unknown>, 'definition' | 'collect' | 'forEach'>;

/** The text of all instruments, each brought up to date first. */
export function renderText(instruments: Iterable<AnyInstrument>): string {
  const lines: string[] = [];
  for (const instrument of instruments) {
    instrument.collect();
    renderInstrument(instrument, lines);
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function renderInstrument(instrument: AnyInstrument, lines: string[]): void {
  const { name, type, help, labels } = instrument.definition;
  lines.push(`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`);
  instrument.forEach((values, series) => {
    const pairs = labels.map((label, i) => `${label.name}="${escapeLabelValue(values[i] ?? '')}"`);
    if (series instanceof Cell) lines.push(`${name}${braces(pairs)} ${formatValue(series.value)}`);
    else if (series instanceof HistogramCell) renderHistogram(name, pairs, series, lines);
  });
}

function renderHistogram(name: string, pairs: readonly string[], series: HistogramCell, lines: string[]): void {
  let total = 0;
  for (let i = 0; i < series.counts.length; i++) {
    total += series.counts[i] ?? 0;
    const bound = formatValue(series.bounds[i] ?? Number.POSITIVE_INFINITY);
    lines.push(`${name}_bucket${braces([...pairs, `le="${bound}"`])} ${total}`);
  }
  lines.push(`${name}_sum${braces(pairs)} ${formatValue(series.sum)}`, `${name}_count${braces(pairs)} ${total}`);
}

function braces(pairs: readonly string[]): string {
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabelValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
