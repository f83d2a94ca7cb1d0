import type { Check } from '../check.ts';
import { type Body, FULL_DUPLEX, type Header, modeOf, type Plan } from '../plan.ts';

/** Data that follows the agreement to an upgrade; the connection stays open. */
const OPEN: Body = { pieces: [Buffer.from('ping')], end: 'never' };

/** E7: requests whose body never ends, or begins after the answer, cannot wait for it. */
export const decidedAtHeaders: Check = {
  id: 'E7',
  title: 'WebSocket, CONNECT and gRPC requests are placed at their headers',
  source: 'envoyproxy/envoy#47081, llm-d/llm-d-router#1532',
  async run({ requests, playAll, places }, findings) {
    const kinds: readonly (readonly [string, readonly Header[]])[] = [
      [
        'WebSocket upgrade',
        requests.headers('GET', '/v1/realtime', [
          ['connection', 'upgrade'],
          ['upgrade', 'websocket'],
          ['sec-websocket-version', '13'],
        ]),
      ],
      ['extended CONNECT', [...requests.headers('CONNECT', '/v1/realtime'), [':protocol', 'websocket']]],
      [
        'gRPC request',
        requests.headers('POST', '/vllm.Generation/Generate', [
          ['content-type', 'application/grpc'],
          ['te', 'trailers'],
        ]),
      ],
    ];
    const plans: Plan[] = kinds.flatMap(([name, headers]) => [
      requests.plan(`full duplex, ${name}`, { headers, body: OPEN, mode: FULL_DUPLEX }),
      requests.plan(`NONE, ${name}`, { headers, body: OPEN, mode: modeOf('none') }),
      requests.plan(`STREAMED, ${name}`, { headers, body: OPEN, mode: modeOf('streamed') }),
    ]);
    for (const outcome of await playAll(plans)) {
      if (!(await places(outcome.plan.mode.request))) {
        findings.unjudged(outcome.title, 'no request is placed in this mode (P6)');
        continue;
      }
      const heard = outcome.plan.mode.request !== 'full_duplex';
      const asked = heard && outcome.answers.some(({ message }) => (message.modeOverride?.requestBodyMode ?? 0) !== 0);
      const came = asked ? 'the answer asks for the body' : outcome.summary;
      findings.expect(outcome.first !== null && !asked, outcome.title, 'a pick in the answer to the headers', came);
      if (heard || outcome.first === null) continue;
      const echo = Buffer.concat(outcome.echo('request').map(({ bytes }) => bytes)).toString();
      findings.expect(echo === 'ping', `${outcome.title}, then data`, 'the data comes back at once', `"${echo}"`);
    }
  },
};
