import { VARIANTS } from '../end-to-end/variants.mjs';
import { figure, signed, table } from './format.mjs';

/** One row for each variant of a scenario. */
function rowsOf({ summary }, cells) {
  return VARIANTS.filter(({ name }) => name in summary).map((variant) => [
    variant.title,
    ...cells(summary[variant.name], variant),
  ]);
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

export function cpuTable({ scenarios }) {
  const paced = scenarios.latency.summary;
  const full = scenarios.capacity.summary;
  return table(
    ['', 'service, paced', 'Envoy, paced', 'service, full load', 'Envoy, full load'],
    rowsOf(scenarios.latency, (_, { name }) => [
      figure(paced[name].serviceCpuMs, 'ms'),
      figure(paced[name].envoyCpuMs, 'ms'),
      figure(full[name]?.serviceCpuMs, 'ms'),
      figure(full[name]?.envoyCpuMs, 'ms'),
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

export function memoryTable({ memory }) {
  const rows = VARIANTS.filter(({ name }) => name in memory.after).map(({ name, title }) => {
    const { service: before } = memory.idle[name];
    const { service, envoy } = memory.after[name];
    return [
      title,
      figure(before?.rssMiB, 'MB'),
      figure(service?.rssMiB, 'MB'),
      figure(service?.peakMiB, 'MB'),
      figure(memory.idle[name].envoy.rssMiB, 'MB'),
      figure(envoy.rssMiB, 'MB'),
      figure(envoy.peakMiB, 'MB'),
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
