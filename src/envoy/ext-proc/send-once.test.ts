import { describe, expect, it } from 'vitest';
import { changesIn, HEADERS_DO, httpHeaders, type Modes, pickOf, READ, Stream } from './fixture.suite.ts';

const OURS = { 'x-smg-envoy': 'periodic=10' };
const POST = { ':method': 'POST', ':path': '/v1/chat/completions', 'content-type': 'application/json' };

type Send = (stream: Stream) => void;

const headers =
  (more: Record<string, string> = {}, protocol = 'HTTP/1.1', endOfStream = false): Send =>
  (stream) =>
    void stream.receive({
      request: { $case: 'requestHeaders', value: httpHeaders({ ...POST, ...more }, endOfStream) },
      attributes: { 'envoy.filters.http.ext_proc': { 'request.protocol': protocol } },
    });
const body =
  (endOfStream: boolean): Send =>
  (stream) =>
    void stream.requestBody('{}', endOfStream);
const trailers: Send = (stream) => void stream.requestTrailers();
const LENGTH = { 'content-length': '2' };

/** What each answer says of the route, and whether it makes Envoy look for it anew. */
function choices(stream: Stream): string[] {
  return stream.call.sent.map((answer) => {
    const { set, remove } = changesIn(answer);
    const response = answer.response;
    const cleared =
      (response?.$case === 'requestHeaders' || response?.$case === 'requestBody') &&
      response.value.response?.clearRouteCache === true;
    const choice = 'x-smg-send-once' in set ? 'once' : remove.includes('x-smg-send-once') ? 'again' : '-';
    expect(choice === '-' || cleared).toBe(true);
    return choice;
  });
}

describe('envoy I25 a body that is read goes by the route without retries, as long as trailers may follow', () => {
  it.each<[string, Modes, typeof READ, Send[], string[]]>([
    ['asked for, chunked', {}, READ, [headers(), body(true)], ['once', 'again']],
    ['asked for, chunked, with trailers', {}, READ, [headers(), body(false)], ['once', '-']],
    ['asked for, of known length', {}, READ, [headers(LENGTH), body(true)], ['-', '-']],
    ['asked for, of known length, HTTP/2', {}, READ, [headers(LENGTH, 'HTTP/2'), body(true)], ['once', 'again']],
    ['not asked for', {}, HEADERS_DO, [headers()], ['-']],
    ['none', {}, READ, [headers({}, 'HTTP/2', true)], ['-']],
    ['static buffered', { request: 'buffered' }, READ, [headers(), body(false)], ['-', '-']],
    ['static partial', { request: 'buffered_partial' }, READ, [headers(), body(true)], ['once', 'again']],
    [
      'static partial, not read',
      { request: 'buffered_partial' },
      HEADERS_DO,
      [headers(), body(true)],
      ['once', 'again'],
    ],
    ['static partial, trailers', { request: 'buffered_partial' }, HEADERS_DO, [headers(), body(false)], ['once', '-']],
    ['streamed', { request: 'streamed' }, HEADERS_DO, [headers(), body(true)], ['once', '-']],
    ['streamed, of known length', { request: 'streamed' }, HEADERS_DO, [headers(LENGTH), body(true)], ['-', '-']],
    ['full duplex, read', { request: 'full_duplex' }, READ, [headers(), body(true)], ['-', '-']],
    ['full duplex, trailers', { request: 'full_duplex' }, READ, [headers(), body(false), trailers], ['once', '-', '-']],
    ['full duplex, not read', { request: 'full_duplex' }, HEADERS_DO, [headers(), body(true)], ['once', '-']],
  ])('%s', (_name, modes, planned, sends, expected) => {
    for (const answer of [pickOf('p1', { requestId: 'r' }), { kind: 'pass' } as const]) {
      const stream = new Stream(modes, {}, OURS);
      stream.picker.planned = planned;
      stream.picker.answer = () => answer;
      for (const send of sends) send(stream);

      expect(choices(stream)).toEqual(expected);
    }
  });

  it('says nothing of it to an Envoy without that route', () => {
    const stream = new Stream({}, {}, {});
    stream.picker.planned = READ;
    headers()(stream);
    body(true)(stream);

    expect(choices(stream)).toEqual(['-', '-']);
  });

  it("takes a client's copy away", () => {
    const stream = new Stream({}, {}, OURS);
    headers({ 'x-smg-send-once': '1', ...LENGTH })(stream);

    expect(changesIn(stream.call.sent[0]).remove).toEqual(['x-smg-send-once']);
  });
});
