/** From rounds to the figures that are quoted: medians of the rounds, and comparisons made within each round. */
import { median, rounded } from '../lib/stats.mjs';
import { baselineOf, isPlain, peerOf, VARIANTS } from './variants.mjs';

const COUNTED = ['sent', 'failed', 'split'];

/** @param rounds rows by variant name, in the order of the rounds */
export function summarize(rounds) {
  const rows = {};
  for (const variant of VARIANTS) {
    const own = rounds[variant.name];
    if (own === undefined) continue;
    const plain = rounds[baselineOf(variant).name];
    rows[variant.name] = {
      ...middle(own),
      ...compared(own, plain, variant),
      ...besidePeer(own, rounds[peerOf(variant)?.name]),
    };
  }
  return rows;
}

function middle(rows) {
  const figures = {};
  for (const name of Object.keys(rows[0])) {
    const values = rows.map((row) => row[name]);
    figures[name] = COUNTED.includes(name) ? values.reduce((sum, value) => sum + value, 0) : rounded(median(values));
  }
  return figures;
}

/** Differences and ratios to plain Envoy with the same bodies, of the same round each. */
function compared(rows, plain, variant) {
  if (isPlain(variant) || plain === undefined) return {};
  const over = (name, combine) => rounded(median(rows.map((row, round) => combine(row[name], plain[round][name]))));
  const figures = {};
  for (const name of ['p50Ms', 'p99Ms', 'envoyCpuMs', 'pathCpuMs', 'perSecond']) {
    if (rows[0][name] == null) continue;
    if (name !== 'perSecond') figures[`${name}Added`] = over(name, (ours, theirs) => ours - theirs);
    figures[`${name}Ratio`] = over(name, (ours, theirs) => ours / theirs);
  }
  return figures;
}

/** Processor time of the whole path against that of SMG with the same requests, of the same round each. */
function besidePeer(rows, peer) {
  if (peer === undefined || rows[0].pathCpuMs === undefined) return {};
  return { pathCpuMsOfPeer: rounded(median(rows.map((row, round) => row.pathCpuMs / peer[round].pathCpuMs))) };
}

/** What must not be: failed requests, conversations on more than one worker, and requests that passed without us. */
export function problemsIn({ scenarios, placed }) {
  const passed = Object.entries(placed)
    .filter(([, { sent, placed: count }]) => count !== null && count !== sent)
    .map(([variant, { sent, placed: count }]) => `${variant}: ${count} of ${sent} requests were placed by the service`);
  const wrong = Object.entries(scenarios).flatMap(([scenario, { summary }]) =>
    Object.entries(summary).flatMap(([variant, { sent, failed, split }]) => [
      ...(failed > 0 ? [`${scenario} ${variant}: ${failed} of ${sent} requests failed`] : []),
      ...(split > 0 ? [`${scenario} ${variant}: ${split} of ${sent} requests left their worker`] : []),
    ]),
  );
  return [...passed, ...wrong];
}
