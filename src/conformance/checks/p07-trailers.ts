import type { Check } from '../check.ts';
import { type Body, FULL_DUPLEX, type Header, type Mode, TRAILERS } from '../plan.ts';
import { served } from '../requests.ts';

const BUFFERED: Mode = { request: 'buffered', response: 'none', trailers: true };
const NONE: Mode = { request: 'none', response: 'none', trailers: true };

/** P7: a trailers message has its answer, in both directions. */
export const trailers: Check = {
  id: 'P7',
  title: 'Trailers are the end of a body, are answered and stay as they are, in both directions',
  source: 'Envoy ext_proc: trailers; Endpoint Picker Protocol: streaming',
  async run({ requests, playAll }, findings) {
    const trailing = (bytes: Buffer): Body => ({ pieces: [bytes], end: 'trailers' });
    const response = { ...served(null), body: trailing(Buffer.from('data: [DONE]\n\n')) };
    const plans = [
      requests.plan('full duplex, request trailers', { body: trailing(requests.chat()) }),
      requests.plan('full duplex, request trailers after no body', {
        body: { pieces: [], end: 'trailers' },
        headers: requests.headers('POST', requests.path),
      }),
      requests.plan('BUFFERED, request trailers', { body: trailing(requests.chat()), mode: BUFFERED }),
      requests.plan('full duplex, response trailers', { response }),
      requests.plan('NONE, response trailers', { mode: NONE, body: null, response }),
      requests.plan('full duplex, trailers both ways', {
        body: trailing(requests.chat()),
        mode: FULL_DUPLEX,
        response,
      }),
    ];
    for (const outcome of await playAll(plans)) {
      for (const kind of ['requestTrailers', 'responseTrailers'] as const) {
        const count = (from: 'us' | 'picker'): number =>
          outcome.entries.filter((entry) => entry.from === from && entry.kind === kind).length;
        const expected = outcome.plan.response?.body?.end === 'trailers' ? 1 : count('us');
        const wanted = kind === 'requestTrailers' ? count('us') : expected;
        if (wanted === 0) continue;
        // A picker that has ended the stream well wants to hear no more (envoy 3.2).
        const left = count('us') === 0 && outcome.end?.code === 0 && outcome.refusal === null;
        const came = count('us') === 0 ? `not sent: ${outcome.summary}` : `${count('picker')} answers`;
        findings.expect(left || count('picker') === 1, outcome.title, `one ${kind} answer`, came);
        const [sent, after] = [shown(TRAILERS), shown(outcome.trailersAfter(kind))];
        findings.expect(after === sent, outcome.title, `trailers go on as they came, ${sent}`, after);
      }
    }
  },
};

function shown(trailers: readonly Header[]): string {
  return trailers.map((line) => line.join(': ')).join(', ') || 'none';
}
