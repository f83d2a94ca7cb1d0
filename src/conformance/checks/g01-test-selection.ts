import type { Check } from '../check.ts';
import { addressOf } from '../endpoint.ts';
import { SUBSET, SUBSET_NAMESPACE, TEST_SELECTION, TEST_SERVED } from '../names.ts';
import { served } from '../requests.ts';

/** G1: the switch that the gateways' own conformance suite steers pickers with. */
export const testSelection: Check = {
  id: 'G1',
  title: 'Test switch of the gateway suite: selection header obeyed, served endpoint shown',
  source: 'Gateway API Inference Extension: conformance suite for gateways',
  async run({ requests, play, fleet, knowledge }, findings) {
    const { endpoints } = await fleet();
    if (!knowledge.testSelection || endpoints.length < 2) {
      const why = knowledge.testSelection ? 'needs two endpoints' : 'only with --test-endpoint-selection';
      findings.unjudged(`requests with ${TEST_SELECTION}`, why);
      return;
    }
    const [first = '', second = ''] = endpoints;
    const cases: readonly (readonly [string, readonly string[]])[] = [
      [first, [first]],
      [second, [second]],
      [`${second},${first}`, [second, first]],
      [addressOf(first), endpoints.filter((endpoint) => addressOf(endpoint) === addressOf(first))],
    ];
    for (const [value, wanted] of cases) {
      const outcome = await play(
        requests.plan(`${TEST_SELECTION}: ${value}`, {
          more: [[TEST_SELECTION, value]],
          body: null,
          metadata: { [SUBSET_NAMESPACE]: { [SUBSET]: [endpoints.at(-1)] } },
          response: served(wanted[0] ?? null),
        }),
      );
      const inside = outcome.picks.length > 0 && outcome.picks.every((pick) => wanted.includes(pick));
      findings.expect(inside, outcome.title, `picks of ${wanted.join(',')}, whatever the hint says`, outcome.summary);
      const shown = outcome.answeredHeaders.find(([name]) => name === TEST_SERVED)?.[1] ?? 'absent';
      findings.expect(shown === wanted[0], outcome.title, `response header ${TEST_SERVED}: ${wanted[0]}`, shown);
    }
  },
};
