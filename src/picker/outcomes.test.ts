import { describe, expect, it } from 'vitest';
import { endOf } from '../../test/support/picker-bench.ts';
import { ofAnswer, ofAttempt, ofEnd, ofRunning } from './outcomes.ts';
import type { RequestEnd } from './request-end.ts';

const FAILURES = [408, 500, 502, 503, 504];
const SUCCESSES = [101, 200, 204, 301, 400, 404, 422, 501];

const attempt = (status: number, broken = false) =>
  ofAttempt({ workerId: 'w', address: '', rank: null, status, broken });

describe('policies 2.3 an attempt that the router logged', () => {
  it.each(FAILURES)('status %i is a failure', (status) => expect(attempt(status)).toBe('failure'));
  it('429 is nothing', () => expect(attempt(429)).toBeNull());
  it.each(SUCCESSES)('status %i is nothing yet: the end of the request tells', (status) => {
    expect(attempt(status)).toBeNull();
    // Cut after its headers.
    expect(attempt(status, true)).toBeNull();
  });
  it('no answer over a broken connection is a failure', () => expect(attempt(0, true)).toBe('failure'));
  it('no answer because the client left, or the time of the request was over, is nothing', () =>
    expect(attempt(0)).toBeNull());
});

const end = (more: Partial<RequestEnd>) => ofEnd({ ...endOf('p', 1), ...more });
/** As Envoy 1.40 tells them (envoy 9.2 and 10.1). */
const RESET = 'upstream_reset_before_response_started';
const REFUSED = `${RESET}{remote_connection_failure|delayed_connect_error:_Connection_refused}`;

describe.each([true, false])('policies 2.3 the end of a request, attempts logged: %s', (attemptsLogged) => {
  const told = (more: Partial<RequestEnd>) => end({ attemptsLogged, ...more });

  it.each(SUCCESSES)('a worker answered %i: success', (status) => expect(told({ status })).toBe('success'));
  it('429: nothing', () => expect(told({ status: 429 })).toBeNull());
  it.each(FAILURES)('a worker answered %i: told once', (status) =>
    expect(told({ status })).toBe(attemptsLogged ? null : 'failure'),
  );

  it.each([REFUSED, `${RESET}{connection_termination}`, `${RESET}{remote_reset}`, `${RESET}{protocol_error}`])(
    'the last attempt failed with %s: told once',
    (codeDetails) => expect(told({ status: 503, codeDetails })).toBe(attemptsLogged ? null : 'failure'),
  );
  it('the time of one attempt was over: told once', () => {
    const over = told({ status: 504, codeDetails: 'upstream_per_try_timeout', firstByteMs: -1 });
    expect(over).toBe(attemptsLogged ? null : 'failure');
  });
  it.each(['response_timeout', 'stream_idle_timeout'])('no answer in time (%s): failure', (codeDetails) =>
    expect(told({ status: 504, codeDetails, firstByteMs: -1 })).toBe('failure'),
  );

  it.each<[string, Partial<RequestEnd>]>([
    ['no worker was left', { status: 503, codeDetails: 'no_healthy_upstream' }],
    ['none was ever asked', { status: 503, codeDetails: 'no_healthy_upstream', attempts: 0 }],
    ["Envoy's own limit", { status: 503, codeDetails: `${RESET}{overflow}` }],
    ['the client left before any answer', { status: 0, codeDetails: 'downstream_remote_disconnect', clientGone: true }],
    ['the client did not finish its request', { status: 408, codeDetails: 'stream_idle_timeout', firstByteMs: -1 }],
    ['Envoy refused the request', { status: 413, codeDetails: 'request_payload_too_large' }],
    ['we refused it', { status: 404, codeDetails: 'model_not_found', attempts: 0 }],
    ['a failing answer that the client did not await', { status: 500, codeDetails: 'downstream_remote_disconnect' }],
  ])('%s: nothing', (_, more) => expect(told(more)).toBeNull());

  it.each<[string, Partial<RequestEnd>]>([
    ['the worker cut it', { codeDetails: `upstream_reset_after_response_started{connection_termination}` }],
    ['the client left in the middle', { codeDetails: 'downstream_remote_disconnect', clientGone: true }],
    ['it fell silent in the middle', { codeDetails: 'stream_idle_timeout' }],
  ])('an answer that had begun, %s: success, as SMG counts at the headers', (_, more) =>
    expect(told(more)).toBe('success'),
  );
});

it("a worker's own 504 that falls silent is told by its attempt alone", () => {
  expect(end({ status: 504, codeDetails: 'stream_idle_timeout', firstByteMs: 3 })).toBeNull();
});

it.each([
  [0, null],
  [200, 'success'],
  [302, 'success'],
  [404, null],
  [503, null],
])('a running request whose answer began with %i: %s', (status, outcome) => expect(ofRunning(status)).toBe(outcome));

describe('policies 2.3 response headers that pass by', () => {
  it.each([
    [200, null, 'success'],
    [503, null, 'failure'],
    [429, null, null],
    [200, 'via_upstream', 'success'],
    [404, 'via_upstream', 'success'],
    [500, 'via_upstream', 'failure'],
    [503, REFUSED, 'failure'],
    [503, `${RESET}{overflow}`, null],
    [503, 'no_healthy_upstream', null],
    [504, 'response_timeout', 'failure'],
    [413, 'request_payload_too_large', null],
  ])('%i with details %s: %s', (status, details, outcome) => expect(ofAnswer(status, details)).toBe(outcome));
});
