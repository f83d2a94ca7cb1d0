import { describe, expect, it } from 'vitest';
import { pickOf, READ, Stream } from './fixture.suite.ts';
import type { BodyMode } from './message.ts';

const PICK_METADATA = {
  'envoy.lb': { 'x-gateway-destination-endpoint': '10.0.0.1:8000,10.0.0.2:8000' },
  picker: { pick_id: 'p1' },
};
const ASK = {
  requestHeaderMode: 0,
  responseHeaderMode: 0,
  requestBodyMode: 3,
  responseBodyMode: 0,
  requestTrailerMode: 0,
  responseTrailerMode: 0,
};

describe('envoy 4.7 where a request is decided', () => {
  const EVERY: BodyMode[] = ['none', 'streamed', 'buffered', 'buffered_partial', 'full_duplex', 'grpc'];

  it.each(EVERY)('%s, headers suffice: at the headers', (request) => {
    const stream = new Stream({ request });

    const [answer] = stream.requestHeaders();

    expect(answer?.response?.$case).toBe('requestHeaders');
    expect(answer?.dynamicMetadata).toEqual(PICK_METADATA);
    expect(answer?.modeOverride).toBeUndefined();
    expect(stream.picker.asked[0]?.body).toBeNull();
  });

  describe.each(EVERY)('%s, the body is wanted, but must not be waited for', (request) => {
    it.each([
      ['end_of_stream', {}, true],
      ['upgrade', { upgrade: 'websocket', ':method': 'GET' }, false],
      ['CONNECT', { ':method': 'CONNECT' }, false],
      ['application/grpc', { 'content-type': 'application/grpc' }, false],
      ['application/grpc+proto', { 'content-type': 'application/grpc+proto' }, false],
    ])('%s: at the headers', (_name, headers, endOfStream) => {
      const stream = new Stream({ request });
      stream.picker.planned = READ;

      const answers = stream.requestHeaders(headers, endOfStream);

      expect(answers).toHaveLength(1);
      expect(answers[0]?.dynamicMetadata).toEqual(PICK_METADATA);
      expect(answers[0]?.modeOverride).toBeUndefined();
    });
  });

  it.each<[BodyMode, boolean]>([
    ['none', true],
    ['buffered', false],
    ['buffered_partial', false],
  ])('%s: continues at the headers (override asked: %s) and decides at the body', (request, asks) => {
    const stream = new Stream({ request });
    stream.picker.planned = READ;

    const [first] = stream.requestHeaders();
    const [second] = stream.requestBody('{"rid":"a"}');

    expect(first?.response?.$case).toBe('requestHeaders');
    expect(first?.dynamicMetadata).toBeUndefined();
    expect(first?.modeOverride).toEqual(asks ? ASK : undefined);
    expect(second?.response?.$case).toBe('requestBody');
    expect(second?.dynamicMetadata).toEqual(PICK_METADATA);
    expect(stream.picker.asked).toMatchObject([{ body: { bytes: Buffer.from('{"rid":"a"}'), complete: true } }]);
    expect(stream.observer.notes.includes('bodyRequested')).toBe(asks);
  });

  it.each([
    ['streamed', { request: 'streamed' as const }],
    ['none with a full-duplex response', { response: 'full_duplex' as const }],
    ['none that sends bodies unasked', { sendsUnasked: true }],
    ['grpc', { request: 'grpc' as const }],
  ])('%s cannot give the body in time: the headers decide, counted', (_name, modes) => {
    const stream = new Stream(modes);
    stream.picker.planned = READ;

    const [answer] = stream.requestHeaders();

    expect(answer?.dynamicMetadata).toEqual(PICK_METADATA);
    expect(answer?.modeOverride).toBeUndefined();
    expect(stream.observer.notes).toContain('bodyPath:mode_cannot_grant');
  });

  it.each<[string, BodyMode, boolean, Record<string, string>, boolean]>([
    ['end flag', 'buffered_partial', true, {}, true],
    ['content-length reached', 'buffered_partial', false, { 'content-length': '4' }, true],
    ['content-length not reached', 'buffered_partial', false, { 'content-length': '5' }, false],
    ['no content-length', 'buffered_partial', false, {}, false],
    ['by override, no end flag', 'none', false, {}, false],
    ['static buffered without the end flag: trailers follow (4.5)', 'buffered', false, {}, true],
  ])('%s: whole or prefix', (_name, request, endOfStream, headers, complete) => {
    const stream = new Stream({ request });
    stream.picker.planned = READ;
    stream.requestHeaders(headers);

    stream.requestBody('{"a"', endOfStream);

    expect(stream.picker.asked[0]?.body?.complete).toBe(complete);
  });

  it('decides at the trailers of a request without body, by metadata alone', () => {
    const stream = new Stream({ request: 'buffered' });
    stream.picker.planned = READ;
    stream.picker.answer = () => pickOf('p1', { requestId: 'r' });
    stream.requestHeaders();

    const [answer] = stream.requestTrailers();

    expect(answer?.response).toMatchObject({ $case: 'requestTrailers' });
    expect(answer?.dynamicMetadata).toEqual(PICK_METADATA);
    expect(stream.picker.asked[0]?.body).toMatchObject({ bytes: Buffer.alloc(0), complete: true });
  });

  it('continues with later messages of a request that is decided', () => {
    const stream = new Stream({ request: 'streamed' });
    stream.requestHeaders();

    const kinds = [...stream.requestBody('a', false), ...stream.requestBody('b'), ...stream.requestTrailers()];

    expect(kinds.map((answer) => answer.response?.$case)).toEqual(['requestBody', 'requestBody', 'requestTrailers']);
    expect(kinds.every((answer) => answer.dynamicMetadata === undefined)).toBe(true);
    expect(stream.picker.asked).toHaveLength(1);
  });

  it('counts an override as ignored when the response comes first, and once only', () => {
    const stream = new Stream();
    stream.picker.planned = READ;
    stream.requestHeaders();
    stream.responseHeaders();
    stream.close();

    expect(stream.observer.notes.filter((note) => note === 'overrideIgnored')).toHaveLength(1);
    expect(stream.call.kinds).toEqual(['requestHeaders', 'responseHeaders']);
  });

  it('counts an override as ignored when the stream ends without a body, but not after one', () => {
    const without = new Stream();
    without.picker.planned = READ;
    without.requestHeaders();
    without.close();
    const after = new Stream();
    after.picker.planned = READ;
    after.requestHeaders();
    after.requestBody('{}');
    after.close();

    expect(without.observer.notes).toContain('overrideIgnored');
    expect(after.observer.notes).not.toContain('overrideIgnored');
  });
});

describe('envoy 1 streams that start or stay unusual', () => {
  it('picks for a stream that starts at the body, by the attributes', () => {
    const stream = new Stream({ request: 'buffered' });

    const [answer] = stream.receive({
      request: { $case: 'requestBody', value: { body: Buffer.from('{}'), endOfStream: true } },
      attributes: {
        'envoy.filters.http.ext_proc': {
          'request.path': '/v1/x',
          "request.headers['x-key']": 'k',
          'request.method': 'POST',
        },
      },
    });

    expect(answer?.response?.$case).toBe('requestBody');
    expect(answer?.dynamicMetadata).toEqual(PICK_METADATA);
    const head = stream.picker.asked[0]!.head;
    expect([head.method, head.path, String(head.first('x-key')), head.first('x-other')]).toEqual([
      'POST',
      '/v1/x',
      'k',
      undefined,
    ]);
  });

  it.each([
    ['responseHeaders', (stream: Stream) => stream.responseHeaders()],
    ['responseBody', (stream: Stream) => stream.responseBody('x')],
    ['responseTrailers', (stream: Stream) => stream.responseTrailers()],
    ['requestTrailers', (stream: Stream) => stream.requestTrailers()],
  ])('answers a stream that starts with %s', (kind, send) => {
    const stream = new Stream();

    expect(send(stream).map((answer) => answer.response?.$case)).toEqual([kind]);
    expect(stream.picker.asked).toHaveLength(0);
  });

  it('says nothing in observability mode', () => {
    const stream = new Stream();

    const answers = stream.receive({
      request: { $case: 'requestHeaders', value: {} },
      observabilityMode: true,
    });

    expect(answers).toEqual([]);
    expect(stream.picker.asked).toHaveLength(0);
  });

  it.each([
    ['bytes that are no message', Buffer.from([0xff, 0xff, 0xff])],
    ['a message of an unknown kind', Buffer.alloc(0)],
  ])('ends the stream with OK on %s', (_name, bytes) => {
    const stream = new Stream();

    stream.raw(bytes);

    expect(stream.call.ended).toEqual({ status: 0, details: '' });
    expect(stream.observer.notes).toEqual(['message:unknown', 'passed:protocol_error']);
  });
});
