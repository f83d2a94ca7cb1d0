import type { Check } from '../check.ts';
import { DESTINATION, NOBODY, SUBSET, TEST_SELECTION } from '../names.ts';
import { FULL_DUPLEX, type Header, modeOf } from '../plan.ts';

const HEADERS: readonly Header[] = [
  [TEST_SELECTION, NOBODY],
  [DESTINATION, NOBODY],
  [SUBSET, NOBODY],
  ['x-prefiller-host-port', NOBODY],
  ['x-smg-target-worker', NOBODY],
  ['host', NOBODY],
];

/** E12: a client that could name an endpoint could reach anything behind the data plane. */
export const noForeignEndpoint: Check = {
  id: 'E12',
  title: 'No header of a client brings in an endpoint that the picker does not know',
  source: 'llm-d/llm-d-router#242',
  async run({ requests, playAll, knowledge }, findings) {
    const headers = HEADERS.filter(([name]) => name !== TEST_SELECTION || !knowledge.testSelection);
    for (const [name, mode] of [
      ['full duplex', FULL_DUPLEX],
      ['NONE', modeOf('none')],
    ] as const) {
      const plans = headers.flatMap((line) => [
        requests.plan(`${name}, POST with ${line.join(': ')}`, { mode, more: [line] }),
        requests.plan(`${name}, GET with ${line.join(': ')}`, { mode, more: [line], body: null }),
      ]);
      for (const outcome of await playAll(plans)) {
        findings.expect(!outcome.picks.includes(NOBODY), outcome.title, `never a pick of ${NOBODY}`, outcome.summary);
      }
    }
  },
};
