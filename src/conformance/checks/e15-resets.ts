import type { Check } from '../check.ts';
import { bodyMessage, headersMessage, protocolOf } from '../messages.ts';
import { FULL_DUPLEX, modeOf } from '../plan.ts';

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
      const headers = requests.headers('POST', requests.path, [['content-type', 'text/plain']]);
      await neighbour.send({ ...headersMessage('request', headers, false), protocolConfig: protocolOf(FULL_DUPLEX) });
      await neighbour.send(bodyMessage('request', Buffer.from('first '), false));

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

      await neighbour.send(bodyMessage('request', Buffer.from('last'), true));
      const ends = (): boolean =>
        neighbour.entries.some((entry) => {
          const response = entry.from === 'picker' ? entry.message.response : undefined;
          const mutation =
            response?.$case === 'requestBody' ? response.value.response?.bodyMutation?.mutation : undefined;
          return mutation?.$case === 'streamedResponse' && mutation.value.endOfStream === true;
        });
      const lives = await neighbour.until(ends);
      const end = neighbour.end;
      neighbour.halfClose();
      if (!(await neighbour.ended())) neighbour.reset();
      const came = end === null ? 'no answer' : `its stream ended with ${end.code} (${end.details})`;
      const sent = `a stream on the same connection that lives through ${load.resets} resets`;
      findings.expect(lives, sent, 'its body comes back to the end', lives ? 'it does' : came);
    } finally {
      connection.close();
    }
  },
};
