import type { Check } from '../check.ts';
import { modeOf } from '../plan.ts';
import { whole } from '../requests.ts';

/** E13: a buffered body is one message, and gRPC's usual limit of 4 MiB is too low for it. */
export const largeMessage: Check = {
  id: 'E13',
  title: 'A buffered body of 18 MiB in one message is taken, or refused with 413',
  source: 'gRPC receive limit, 4 MiB by default',
  async run({ requests, play, places, load }, findings) {
    if (!(await places('buffered'))) {
      findings.unjudged('BUFFERED, one large message', 'no request is placed in this mode (P6)');
      return;
    }
    const { body } = requests.sized(load.largestMessage);
    const title = `BUFFERED, one message of ${body.length} bytes`;
    const outcome = await play(requests.plan(title, { body: whole(body), mode: modeOf('buffered') }));
    const right = outcome.first !== null || outcome.refusal?.status === 413;
    findings.expect(right, title, 'a pick, or an immediate response 413', outcome.summary);
  },
};
