import { VARIANTS } from '../end-to-end/variants.mjs';
import { median } from '../lib/stats.mjs';
import { figure, filled, signed, table } from './format.mjs';

/** One row for each variant of a scenario. */
function rowsOf({ summary }, cells) {
  return VARIANTS.filter(({ name }) => name in summary).map((variant) => [
    variant.title,
    ...cells(summary[variant.name], variant),
  ]);
}

/** A ratio of two figures of the same rounds: the median of it. */
function ratioOf(above, below) {
  const ratios = above.map((value, round) => (value == null || below[round] == null ? null : value / below[round]));
  return median(ratios);
}

/** Where SMG was asked, there is one process, which is neither Envoy nor the service. */
function sides(row, { smg }) {
  const both = row.pathCpuMs ?? (row.envoyCpuMs ?? 0) + (row.serviceCpuMs ?? 0);
  return [row.envoyCpuMs, smg === undefined ? row.serviceCpuMs : null, both].map((value) => figure(value, 'ms'));
}

export function latencyTable({ scenarios }) {
  return table(
    ['', 'p50', 'p99', 'added p50', 'added p99', 'p50, ratio', 'p99, ratio'],
    rowsOf(scenarios.latency, (row) => [
      figure(row.p50Ms, 'ms'),
      figure(row.p99Ms, 'ms'),
      signed(row.p50MsAdded, 'ms'),
      signed(row.p99MsAdded, 'ms'),
      figure(row.p50MsRatio),
      figure(row.p99MsRatio),
    ]),
  );
}

/** Processor time of a request in one of the scenarios. */
export function cpuTable(scenario) {
  const { rounds } = scenario;
  return filled(
    ['', 'Envoy', 'service', 'both', 'both, to plain Envoy', 'service to Envoy', 'both, to SMG'],
    rowsOf(scenario, (row, variant) => [
      ...sides(row, variant),
      figure(row.pathCpuMsRatio),
      figure(
        ratioOf(
          rounds[variant.name].map(({ serviceCpuMs }) => serviceCpuMs),
          rounds[variant.name].map(({ envoyCpuMs }) => envoyCpuMs),
        ),
      ),
      figure(row.pathCpuMsOfPeer),
    ]),
  );
}

export function capacityTable({ scenarios }) {
  return table(
    ['', 'requests a second', 'ratio', 'p50', 'p99'],
    rowsOf(scenarios.capacity, (row) => [
      figure(row.perSecond),
      figure(row.perSecondRatio),
      figure(row.p50Ms, 'ms'),
      figure(row.p99Ms, 'ms'),
    ]),
  );
}

export function streamedTable({ scenarios }) {
  return filled(
    ['', 'requests a second', 'of plain Envoy', 'service', 'both', 'both, to plain Envoy', 'both, to SMG'],
    rowsOf(scenarios.streamed, (row, variant) => [
      figure(row.perSecond),
      row.perSecondRatio === undefined ? '–' : figure(row.perSecondRatio * 100, '%'),
      ...sides(row, variant).slice(1),
      figure(row.pathCpuMsRatio),
      figure(row.pathCpuMsOfPeer),
    ]),
  );
}

/** Variants that differ from another one in the protocol or the transport alone, beside it. */
function pairsOf({ latency, capacity }) {
  return VARIANTS.filter(({ service, config }) => service !== undefined || config !== undefined)
    .map((other) => ({
      other,
      usual: VARIANTS.find(
        ({ flags, key, bodyBytes, service, config }) =>
          flags === other.flags &&
          key === other.key &&
          bodyBytes === other.bodyBytes &&
          service === undefined &&
          config === undefined,
      ),
    }))
    .filter(({ other, usual }) =>
      [latency, capacity].every((scenario) => scenario.rounds[other.name] && scenario.rounds[usual.name]),
    );
}

/** Each in ratio to the same request by ext_proc on our own HTTP/2; empty where nothing of that was measured. */
export function besideTable({ scenarios }) {
  const { latency, capacity } = scenarios;
  const pairs = pairsOf(scenarios);
  if (pairs.length === 0) return '';
  const ratio = ({ rounds }, other, usual, name) =>
    figure(
      ratioOf(
        rounds[other.name].map((row) => row[name]),
        rounds[usual.name].map((row) => row[name]),
      ),
    );
  return table(
    ['', 'p50', 'requests a second, full load', 'Envoy', 'service', 'both'],
    pairs.map(({ other, usual }) => [
      other.title,
      ratio(latency, other, usual, 'p50Ms'),
      ratio(capacity, other, usual, 'perSecond'),
      ...['envoyCpuMs', 'serviceCpuMs', 'pathCpuMs'].map((name) => ratio(capacity, other, usual, name)),
    ]),
  );
}

export function memoryTable({ memory }) {
  const rows = VARIANTS.filter(({ name }) => name in memory.after).map(({ name, title }) => {
    const before = memory.idle[name];
    const { service, envoy } = memory.after[name];
    return [
      title,
      figure(before.service?.rssMiB, 'MB'),
      figure(service?.rssMiB, 'MB'),
      figure(service?.peakMiB, 'MB'),
      figure(before.envoy?.rssMiB, 'MB'),
      figure(envoy?.rssMiB, 'MB'),
      figure(envoy?.peakMiB, 'MB'),
    ];
  });
  return table(['', 'service before', 'after', 'peak', 'Envoy before', 'after', 'peak'], rows);
}

export function heldTable({ scenarios }) {
  return table(
    ['', 'service, each', 'Envoy, each'],
    rowsOf(scenarios.held, (row) => [figure(row.serviceKiBEach, 'KB'), figure(row.envoyKiBEach, 'KB')]),
  );
}

/** Requests of all scenarios, and those that went wrong. */
export function totals({ scenarios }) {
  const rows = Object.values(scenarios).flatMap(({ summary }) => Object.values(summary));
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
  return { sent: sum('sent'), failed: sum('failed'), split: sum('split') };
}
