import type { Check } from '../check.ts';
import { DESTINATION, NOBODY } from '../names.ts';
import { FULL_DUPLEX, type Header, modeOf, type Plan } from '../plan.ts';

const NAMES = [DESTINATION, `${DESTINATION}-subset`, `${DESTINATION}-served`, `${DESTINATION}-fallback`];
/** Each name twice: taking off the first line is not enough. */
const FORGED: readonly Header[] = NAMES.flatMap((name): Header[] => [
  [name, NOBODY],
  [name, `${NOBODY},${NOBODY}`],
]);

/** P8: what a client writes into the protocol's headers reaches nobody. */
export const clientHeaders: Check = {
  id: 'P8',
  title: 'Client-sent x-gateway-destination-endpoint* never survives',
  source: 'a client must not choose its endpoint',
  async run({ requests, playAll }, findings) {
    const plan = (title: string, changes: Partial<Plan> = {}): Plan =>
      requests.plan(title, { more: FORGED, ...changes });
    const outcomes = await playAll([
      plan('full duplex, POST with forged headers'),
      plan('full duplex, GET with forged headers', { body: null }),
      plan('full duplex, POST with trailers and forged headers', {
        mode: FULL_DUPLEX,
        body: { pieces: [requests.chat()], end: 'trailers' },
      }),
      plan('NONE, POST with forged headers', { mode: modeOf('none') }),
      plan('BUFFERED, POST with forged headers', { mode: modeOf('buffered') }),
      plan('STREAMED, POST with forged headers', { mode: modeOf('streamed') }),
    ]);
    for (const outcome of outcomes) {
      if (outcome.first === null) {
        findings.unjudged(outcome.title, outcome.summary);
        continue;
      }
      const left = outcome.forwarded.filter(([name, value]) => NAMES.includes(name) && value.includes(NOBODY));
      findings.expect(
        left.length === 0 && !outcome.picks.includes(NOBODY),
        outcome.title,
        'none of the values reaches the worker or becomes the pick',
        left.length === 0 ? outcome.summary : `left: ${[...new Set(left.map(([name]) => name))].join(', ')}`,
      );
    }
  },
};
