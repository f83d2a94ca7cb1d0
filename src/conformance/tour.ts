import { type Body, FULL_DUPLEX, type Header, type Mode, modeOf, type Plan } from './plan.ts';
import type { Requests } from './requests.ts';
import { served, whole } from './requests.ts';

/** Lines of a client that must reach the worker as they are: also those that stand there twice. */
const CLIENT_LINES: readonly Header[] = [
  ['accept', 'application/json'],
  ['accept', 'text/event-stream'],
  ['x-client', 'one'],
  ['x-client', 'two'],
];

const EVERY_PHASE: Mode = { request: 'buffered', response: 'streamed', trailers: true };

/** Requests of every sort, in every mode. What the rules for answers (E1 to E6) are held against. */
export function tourPlans(requests: Requests): readonly Plan[] {
  const cut = (bytes: Buffer, end: Body['end']): Body => ({
    pieces: [bytes.subarray(0, 9), bytes.subarray(9, 40), bytes.subarray(40)],
    end,
  });
  const body = (end: Body['end'] = 'flag'): Body => cut(requests.chat(), end);
  const large = whole(requests.sized(300_000).body);
  const more = CLIENT_LINES;
  const response = served(null);
  const trailing = { ...response, body: { pieces: [Buffer.from('data: {}\n\n')], end: 'trailers' as const } };
  return [
    requests.plan('full duplex, POST', { more, body: body(), response }),
    requests.plan('full duplex, POST with trailers both ways', { more, body: body('trailers'), response: trailing }),
    requests.plan('full duplex, POST of 300,000 bytes', { more, body: large }),
    requests.plan('full duplex, GET', { more, body: null, response }),
    requests.plan('full duplex, POST, answered without a body', { more, response: { ...response, body: null } }),
    requests.plan('full duplex, POST, response phase not shown', {
      more,
      mode: { ...FULL_DUPLEX, response: 'none' },
    }),
    requests.plan('NONE, POST', { more, mode: modeOf('none') }),
    requests.plan('NONE, GET, response headers shown', { more, mode: modeOf('none'), body: null, response }),
    requests.plan('BUFFERED, POST', { more, mode: modeOf('buffered'), response }),
    requests.plan('BUFFERED, POST with trailers, response STREAMED', {
      more,
      mode: EVERY_PHASE,
      body: body('trailers'),
      response: trailing,
    }),
    requests.plan('BUFFERED_PARTIAL, POST', { more, mode: modeOf('buffered_partial') }),
    requests.plan('STREAMED, POST', { more, mode: modeOf('streamed'), body: body() }),
  ];
}
