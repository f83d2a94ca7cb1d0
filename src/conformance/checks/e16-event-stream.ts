import type { Check } from '../check.ts';
import { FULL_DUPLEX, type Mode } from '../plan.ts';
import { served } from '../requests.ts';

const EVENT = Buffer.from('data: {"choices":[]}\n\n');
const MODES: readonly (readonly [string, Mode])[] = [
  ['full duplex', FULL_DUPLEX],
  ['full duplex for responses only', { ...FULL_DUPLEX, request: 'none' }],
];

/** E16: who holds the pieces of an answer until its end turns a stream of tokens into one block. */
export const eventStream: Check = {
  id: 'E16',
  title: 'An event stream comes back piece by piece, while it runs',
  source: 'Endpoint Picker Protocol: streaming',
  async run({ requests, playAll }, findings) {
    const response = {
      ...served(null),
      headers: [
        [':status', '200'],
        ['content-type', 'text/event-stream'],
      ] as const,
    };
    const [whole] = await playAll([
      requests.plan('a response in one piece', { response: { ...response, body: { pieces: [EVENT], end: 'flag' } } }),
    ]);
    if (whole === undefined || whole.echo('response').length === 0) {
      findings.unjudged('the first event of a response that goes on', 'no response comes back (P5)');
      return;
    }
    const plans = MODES.map(([name, mode]) =>
      requests.plan(`${name}, the first event of a response that goes on`, {
        mode,
        response: { ...response, body: { pieces: [EVENT], end: 'never' } },
      }),
    );
    for (const outcome of await playAll(plans)) {
      const came = Buffer.concat(outcome.echo('response').map(({ bytes }) => bytes));
      const shown = came.length === 0 ? outcome.summary : `${came.length} bytes`;
      findings.expect(came.equals(EVENT), outcome.title, `its ${EVENT.length} bytes at once`, shown);
    }
  },
};
