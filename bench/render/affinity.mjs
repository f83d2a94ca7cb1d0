/** Prompts with the same beginning: whether they come to the same workers, here and with SMG. */
import { figure, signed, table } from './format.mjs';
import { from } from './sources.mjs';

export function affinityTable({ systems }) {
  return table(
    ['', 'to a worker that had it', 'to the last worker that had it', 'workers for a beginning', 'busiest worker'],
    systems.map((row) => [
      `${row.scenario}: ${row.system}`,
      figure(row.warm * 100, '%'),
      figure(row.same * 100, '%'),
      figure(row.holders),
      `${figure(row.busiest)} × the mean`,
    ]),
  );
}

/** By scenario, the points by which our rate is above SMG's; null without SMG. */
export function pointsOf({ systems }) {
  return [...new Set(systems.map(({ scenario }) => scenario))].map((scenario) => {
    const [ours, theirs] = systems.filter((row) => row.scenario === scenario);
    return { scenario, points: theirs === undefined ? null : (ours.warm - theirs.warm) * 100 };
  });
}

export function affinityText(affinity) {
  const { settings, decisions, withoutSmg, systems } = affinity;
  const peer =
    withoutSmg === null
      ? `${pointsOf(affinity)
          .map(({ scenario, points }) => `${scenario}: ${signed(points, 'points')}`)
          .join('; ')} against SMG`
      : `SMG was not there: ${withoutSmg}`;
  const worst = decisions.reduce((a, b) => (a.p99Ms >= b.p99Ms ? a : b));
  const failed = systems.reduce((sum, row) => sum + row.failed, 0);
  return `## Prompts that begin alike

${from(affinity)}

${figure(settings.prefixes)} beginnings with ${figure(settings.turns)} prompts each, of ${figure(settings.bytes / 1024)} KB, of which one eighth is the prompt's own, in an order by chance. ${settings.connections}
connections, ${settings.workers} workers that take ${settings['hold-ms']} ms for an answer. \`--policy cache_aware\` through Envoy and us, and through SMG, each with
workers of its own: the same requests in the same order, system after system, new prompts in each round (${settings.rounds}). The second
scenario has both count a worker as too busy early.

A request is at home when it comes to a worker that served an earlier request with the same beginning; the first of each
beginning does not count. ${figure(failed)} requests failed.

${affinityTable(affinity)}

Read the first column: ${peer}.

By its own count (\`smg_envoy_decision_seconds\` of bodies: text taken out, tree asked and told) the service took ${figure(worst.p50Ms, 'ms')} for a
decision (median), and ${figure(worst.p99Ms, 'ms')} at p99; ${figure(worst.belowOneMs * 100, '%')} took less than 1 ms. That is the worse of the two scenarios.
`;
}
