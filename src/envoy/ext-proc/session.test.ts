import { describe, expect, it } from 'vitest';
import { changesIn, HEADERS_DO, pickOf, READ, REFUSAL, Stream } from './fixture.suite.ts';
import type { BodyMode } from './message.ts';

const PICK_METADATA = {
  'envoy.lb': { 'x-gateway-destination-endpoint': '10.0.0.1:8000,10.0.0.2:8000' },
  picker: { pick_id: 'p1' },
};
const ASK = {
  requestHeaderMode: 1,
  responseHeaderMode: 2,
  requestBodyMode: 3,
  responseBodyMode: 0,
  requestTrailerMode: 2,
  responseTrailerMode: 2,
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
    expect(stream.observer.notes).toEqual(['streamOpened', 'message:unknown', 'passed:protocol_error']);
  });
});

describe('envoy 5.1 and 6 what a pick changes', () => {
  const PRESENT = {
    'x-smg-target-worker': '1',
    'x-smg-routing-tokens': '1,2',
    'x-smg-priority': '1',
    'x-smg-tenant-id': 't',
    'x-smg-mcp': 'm',
    'x-smg-decision': 'forged',
    'x-gateway-destination-endpoint': '6.6.6.6:1',
  };

  it('removes only the control headers that are present (decisions 15)', () => {
    expect(changesIn(new Stream().requestHeaders()[0])).toEqual({ set: {}, remove: [] });
    expect(changesIn(new Stream().requestHeaders({ 'x-smg-mcp': 'm', 'x-smg-routing-key': 'k' })[0]).remove).toEqual([
      'x-smg-mcp',
    ]);
    expect(changesIn(new Stream().requestHeaders(PRESENT)[0]).remove.sort()).toEqual(Object.keys(PRESENT).sort());
  });

  it('removes them in the header answer too when the decision comes later or fails', () => {
    const later = new Stream();
    later.picker.planned = READ;
    const failing = new Stream();
    failing.picker.answer = () => ({ kind: 'pass' });

    expect(changesIn(later.requestHeaders(PRESENT)[0]).remove).toHaveLength(7);
    expect(changesIn(later.requestBody('{}')[0])).toEqual({ set: {}, remove: [] });
    expect(changesIn(failing.requestHeaders(PRESENT)[0]).remove).toHaveLength(7);
  });

  it('sets x-request-id when the picker says so', () => {
    const stream = new Stream();
    stream.picker.answer = () => pickOf('p1', { requestId: 'chatcmpl-9' });

    expect(changesIn(stream.requestHeaders()[0]).set).toEqual({ 'x-request-id': 'chatcmpl-9' });
  });

  it.each([
    ['none', 0],
    ['none', 1],
  ] as const)('marks a strict target in mode %s, answer %i (envoy 6.6)', (request, at) => {
    const stream = new Stream({ request });
    stream.picker.planned = at === 1 ? READ : HEADERS_DO;
    stream.picker.answer = () => pickOf('p1', { strict: true, destination: '10.0.0.1:8000' });
    stream.requestHeaders();
    if (at === 1) stream.requestBody('{}');
    const answer = stream.call.sent[at];

    expect(answer?.dynamicMetadata?.['envoy.lb']).toEqual({
      'x-gateway-destination-endpoint': '10.0.0.1:8000',
      strict: '1',
    });
    expect(changesIn(answer).set).toEqual({ 'x-envoy-max-retries': '0' });
  });

  it('puts the decision into metadata picker / decision', () => {
    const stream = new Stream();
    stream.picker.answer = () => pickOf('p1', { decisionHeader: 'branch=vacant' });

    expect(stream.requestHeaders()[0]?.dynamicMetadata?.['picker']).toEqual({
      pick_id: 'p1',
      decision: 'branch=vacant',
    });
  });

  it.each(['a\r\nb', 'a\0', '\x7f', 'a\tb'])('leaves out a request id with control characters: %j', (requestId) => {
    const stream = new Stream();
    stream.picker.answer = () => pickOf('p1', { requestId });

    expect(changesIn(stream.requestHeaders()[0]).set).toEqual({});
    expect(stream.observer.notes).toContain('headerLeftOut:x-request-id');
  });

  it.each([
    ['auto', 'none', {}, undefined],
    ['auto', 'full_duplex', {}, 'x-gateway-destination-endpoint'],
    ['auto', 'full_duplex', { 'x-smg-envoy': 'periodic=10' }, undefined],
    ['', 'full_duplex', {}, undefined],
    ['x-upstream', 'none', {}, 'x-upstream'],
    ['x-upstream', 'none', { 'x-smg-envoy': '' }, undefined],
  ] as const)(
    'destination header %j, mode %s, metadata %j: copied to %s (decisions 21)',
    (name, request, mark, header) => {
      const stream = new Stream({ request }, { destinationHeader: name }, mark);

      const { set } = changesIn(stream.requestHeaders({}, true)[0]);

      expect(set).toEqual(header === undefined ? {} : { [header]: '10.0.0.1:8000,10.0.0.2:8000' });
    },
  );

  it('clears the route cache in full duplex when headers change, else never (endpoint-picker-protocol 1)', () => {
    const duplex = new Stream({ request: 'full_duplex' });
    const plain = new Stream({}, { destinationHeader: 'x-upstream' });

    const cleared = [duplex, plain].map((stream) => {
      const response = stream.requestHeaders()[0]?.response;
      return response?.$case === 'requestHeaders' && response.value.response?.clearRouteCache === true;
    });

    expect(cleared).toEqual([true, false]);
  });

  it.each([
    [undefined, 0],
    ['periodic=10', 10_000],
    ['periodic=0', 0],
    ['periodic=x', 0],
    ['', 0],
  ])('mark %j promises periodic entries every %i ms', (mark, ms) => {
    const stream = new Stream({}, {}, mark === undefined ? {} : { 'x-smg-envoy': mark });
    stream.requestHeaders();

    expect(stream.picker.asked[0]?.facts).toEqual({ periodicLogMs: ms, endpointPicker: false });
  });
});

describe('envoy 10.2 refusals', () => {
  it.each<[BodyMode, boolean]>([
    ['none', false],
    ['none', true],
    ['buffered', true],
    ['full_duplex', true],
    ['full_duplex', false],
  ])('%s, body read: %s: one immediate response in the envelope, then silence', (request, body) => {
    const stream = new Stream({ request });
    stream.picker.planned = body ? READ : HEADERS_DO;
    stream.picker.answer = () => REFUSAL;
    stream.requestHeaders();
    if (body) stream.requestBody('{}');
    const answer = stream.call.sent.at(-1);
    const before = stream.call.sent.length;
    stream.requestBody('late');
    stream.requestTrailers();
    stream.responseHeaders();

    expect(stream.call.sent).toHaveLength(before);
    if (answer?.response?.$case !== 'immediateResponse') throw new Error('no immediate response');
    const { status, body: bytes, details } = answer.response.value;
    expect(status?.code).toBe(404);
    expect(details).toBe('model_not_found');
    expect(changesIn(answer).set).toEqual({
      'content-type': 'application/json',
      'x-smg-error-code': 'model_not_found',
      'x-request-id': 'chatcmpl-1',
      'retry-after': '10',
    });
    expect(JSON.parse(String(bytes))).toEqual({
      error: {
        type: 'Not Found',
        code: 'model_not_found',
        message: `No worker available for model 'x"y'`,
        param: null,
      },
    });
  });

  it('leaves retry-after and an unsafe request id out', () => {
    const stream = new Stream();
    stream.picker.answer = () => ({ ...REFUSAL, status: 503, retryAfterSecs: null, requestId: 'a\nb' });

    expect(Object.keys(changesIn(stream.requestHeaders()[0]).set)).toEqual(['content-type', 'x-smg-error-code']);
  });
});

describe('envoy 6.7 and 10.1 the worker stamp of foreign configurations', () => {
  const VIA = { 'response.code_details': 'via_upstream', 'upstream.address': '10.0.0.2:8000' };
  const attributes = (fields: Record<string, string>) => ({ 'envoy.filters.http.ext_proc': fields });
  const served = (namespace: string, key: string) => ({ filterMetadata: { [namespace]: { [key]: '10.0.0.3:8000' } } });

  it.each([
    ['attributes of a worker answer', { attributes: attributes(VIA) }, 'worker-at-10.0.0.2:8000'],
    ['picker / served', { metadataContext: served('picker', 'served') }, 'worker-at-10.0.0.3:8000'],
    [
      'the protocol key',
      { metadataContext: served('envoy.lb', 'x-gateway-destination-endpoint-served') },
      'worker-at-10.0.0.3:8000',
    ],
    [
      'served goes before the attribute',
      { metadataContext: served('picker', 'served'), attributes: attributes(VIA) },
      'worker-at-10.0.0.3:8000',
    ],
    [
      'served, but Envoy answered itself',
      {
        metadataContext: served('picker', 'served'),
        attributes: attributes({ 'response.code_details': 'upstream_reset_before_response_started{x}' }),
      },
      undefined,
    ],
    ['an address without details', { attributes: attributes({ 'upstream.address': '10.0.0.2:8000' }) }, undefined],
    ['details without an address', { attributes: attributes({ 'response.code_details': 'via_upstream' }) }, undefined],
    ['no evidence', {}, undefined],
  ])('%s', (_name, more, stamp) => {
    const stream = new Stream();
    stream.requestHeaders();

    const [answer] = stream.responseHeaders(more);

    expect(changesIn(answer)).toEqual(
      stamp === undefined
        ? { set: {}, remove: [] }
        : { set: { 'x-smg-routed-worker-id': stamp }, remove: ['x-smg-error-code'] },
    );
  });

  it('does not stamp for our own configuration, for a worker without stamp, or with an unsafe one', () => {
    const ours = new Stream({}, {}, { 'x-smg-envoy': 'periodic=10' });
    const unknown = new Stream();
    unknown.picker.stampOf = () => null;
    const unsafe = new Stream();
    unsafe.picker.stampOf = () => 'a\nb';

    for (const stream of [ours, unknown, unsafe]) {
      expect(changesIn(stream.responseHeaders({ attributes: attributes(VIA) })[0])).toEqual({ set: {}, remove: [] });
    }
  });
});
