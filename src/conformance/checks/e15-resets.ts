import type { Check } from '../check.ts';
import { headersMessage, protocolOf } from '../messages.ts';
import { FULL_DUPLEX, modeOf } from '../plan.ts';
import { served } from '../requests.ts';

/** Resets that come before the answer, one in so many. */
const UNANSWERED = 4;
const AT_ONCE = 20;

/** E15: by default Envoy ends every stream with a reset, and clients leave at any time. */
export const resets: Check = {
  id: 'E15',
  title: '1,000 streams that end with a reset cost the others nothing',
  source: 'Envoy ext_proc: streams end with RST_STREAM by default',
  async run({ connect, requests, load }, findings) {
    const connection = connect();
    try {
      const neighbour = connection.open();
      const begin = headersMessage('request', requests.headers('GET', '/v1/models'), true);
      await neighbour.send({ ...begin, protocolConfig: protocolOf(FULL_DUPLEX) });
      const answers = (kind: string): boolean =>
        neighbour.entries.some((entry) => entry.from === 'picker' && entry.kind === kind);
      if (!(await neighbour.until(() => answers('requestHeaders')))) {
        findings.unjudged('a stream that lives through resets', 'its request was not answered');
        return;
      }

      let unanswered = 0;
      for (let done = 0; done < load.resets && neighbour.end === null; done += AT_ONCE) {
        const batch = Array.from({ length: Math.min(AT_ONCE, load.resets - done) }, async (_, index) => {
          const stream = connection.open();
          const head = headersMessage('request', requests.headers('GET', '/v1/models'), true);
          await stream.send({ ...head, protocolConfig: protocolOf(modeOf('none')) });
          const waits = index % UNANSWERED !== 0;
          if (waits && !(await stream.until(() => stream.entries.length > 1))) unanswered += 1;
          stream.reset();
          await stream.ended();
        });
        await Promise.all(batch);
      }
      findings.expect(
        unanswered === 0,
        `${load.resets} streams that are reset`,
        'an answer before each reset',
        `${unanswered} had none`,
      );

      await neighbour.send(headersMessage('response', served(null).headers, true));
      const lives = await neighbour.until(() => answers('responseHeaders'));
      const end = neighbour.end;
      neighbour.halfClose();
      if (!(await neighbour.ended())) neighbour.reset();
      const came = end === null ? 'no answer' : `its stream ended with ${end.code} (${end.details})`;
      const sent = `a stream on the same connection that lives through ${load.resets} resets`;
      findings.expect(lives, sent, 'its response is answered', lives ? 'it does' : came);
    } finally {
      connection.close();
    }
  },
};
