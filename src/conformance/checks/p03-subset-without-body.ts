import type { Check } from '../check.ts';
import { hinted } from '../fleet.ts';
import { NOBODY, SUBSET, SUBSET_NAMESPACE } from '../names.ts';
import { FULL_DUPLEX, modeOf } from '../plan.ts';

/** P3: requests without a body obey the hint, too. */
export const subsetWithoutBody: Check = {
  id: 'P3',
  title: 'Subset hint on requests without a body',
  source: 'Endpoint Picker Protocol: subset',
  async run({ requests, playAll, fleet }, findings) {
    const { endpoints } = await fleet();
    if (endpoints.length < 2) {
      findings.unjudged('a subset of the endpoints', `needs two endpoints, knows ${endpoints.length}`);
      return;
    }
    for (const [name, mode] of [
      ['full duplex', FULL_DUPLEX],
      ['NONE', modeOf('none')],
      ['BUFFERED', modeOf('buffered')],
    ] as const) {
      const tries = hinted(endpoints);
      const plan = (value: unknown) =>
        requests.plan(`${name}, GET with hint ${JSON.stringify(value)}`, {
          mode,
          body: null,
          metadata: { [SUBSET_NAMESPACE]: { [SUBSET]: value } },
        });
      const outcomes = await playAll(tries.map((it) => plan([it])));
      const wrong = outcomes.findIndex(
        ({ picks }, index) => picks.length === 0 || picks.some((p) => p !== tries[index]),
      );
      const shown = outcomes[Math.max(wrong, 0)];
      findings.expect(wrong < 0, shown?.title ?? '', 'a pick of that endpoint', shown?.summary ?? '');
      for (const outcome of await playAll([plan([]), plan([NOBODY])])) {
        const refused = outcome.picks.length === 0 && (outcome.refusal !== null || (outcome.end?.code ?? 0) !== 0);
        findings.expect(refused, outcome.title, 'a refusal', outcome.summary);
      }
    }
  },
};
