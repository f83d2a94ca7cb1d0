import { describe, expect, it } from 'vitest';
import type { ProcessingResponse } from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { SeenResponse } from '../../picker/served-feedback.ts';
import { changesIn, HEADERS_DO, pickOf, READ, REFUSAL, Stream } from './fixture.suite.ts';
import type { BodyMode } from './message.ts';

describe('envoy 5.1 and 6 what a pick changes', () => {
  const PRESENT = {
    'x-smg-target-worker': '1',
    'x-smg-routing-tokens': '1,2',
    'x-smg-priority': '1',
    'x-smg-tenant-id': 't',
    'x-smg-mcp': 'm',
    'x-smg-send-once': '1',
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

    expect(changesIn(later.requestHeaders(PRESENT)[0]).remove).toHaveLength(8);
    expect(changesIn(later.requestBody('{}')[0])).toEqual({ set: {}, remove: [] });
    expect(changesIn(failing.requestHeaders(PRESENT)[0]).remove).toHaveLength(8);
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
    stream.picker.answer = () => pickOf('p1', { strict: true, maxRetries: 0, destination: '10.0.0.1:8000' });
    stream.requestHeaders();
    if (at === 1) stream.requestBody('{}');
    const answer = stream.call.sent[at];

    expect(answer?.dynamicMetadata?.['envoy.lb']).toEqual({
      'x-gateway-destination-endpoint': '10.0.0.1:8000',
      strict: '1',
    });
    expect(changesIn(answer).set).toEqual({ 'x-envoy-max-retries': '0' });
  });

  it('lowers the number of retries where the picker says so', () => {
    const stream = new Stream();
    stream.picker.answer = () => pickOf('p1', { maxRetries: 2 });

    expect(changesIn(stream.requestHeaders()[0]).set).toEqual({ 'x-envoy-max-retries': '2' });
  });

  it('names the data-parallel rank in metadata picker, and nowhere else (decisions 46)', () => {
    const stream = new Stream();
    stream.picker.answer = () => pickOf('p1', { rank: 3 });

    expect(stream.requestHeaders()[0]?.dynamicMetadata).toEqual({
      'envoy.lb': { 'x-gateway-destination-endpoint': '10.0.0.1:8000,10.0.0.2:8000' },
      picker: { pick_id: 'p1', rank: '3', rank_suffix: '@3' },
    });
  });

  it('names the prefill worker of a mirrored request where Envoy lets the mirror see it (envoy 12)', () => {
    const stream = new Stream();
    stream.picker.answer = () => pickOf('p1', { prefillMirror: '10.0.0.9:8000' });

    expect(stream.requestHeaders()[0]?.dynamicMetadata?.['envoy.lb']).toEqual({
      'x-gateway-destination-endpoint': '10.0.0.1:8000,10.0.0.2:8000',
      prefill: '10.0.0.9:8000',
    });
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
    ['auto', 'full_duplex', { 'x-smg-envoy': 'periodic=10' }, 'x-gateway-destination-endpoint'],
    ['auto', 'none', { 'x-smg-envoy': 'periodic=10' }, undefined],
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

    expect(stream.picker.asked[0]?.facts).toEqual({
      periodicLogMs: ms,
      endpointPicker: false,
      editsBody: true,
      pickId: null,
      subset: null,
    });
  });
});

describe('envoy 5.2 a body of ours', () => {
  const REPLACED = Buffer.from('{"model":"canonical"}');
  const bodyIn = (answer: ReturnType<Stream['requestBody']>[number] | undefined) =>
    answer?.response?.$case === 'requestBody' ? answer.response.value.response?.bodyMutation?.mutation : undefined;

  it.each(['none', 'buffered', 'buffered_partial'] as const)('goes out with the body answer of mode %s', (request) => {
    const stream = new Stream({ request });
    stream.picker.planned = READ;
    stream.picker.answer = () => pickOf('p1', { body: REPLACED });
    stream.requestHeaders();

    const [answer] = stream.requestBody('{"model":"alias"}');

    expect(bodyIn(answer)).toEqual({ $case: 'body', value: REPLACED });
    // A wrong length is a 500 in Envoy; without one it sends the body chunked.
    expect(changesIn(answer)).toEqual({ set: {}, remove: ['content-length'] });
  });

  it('takes the place of what was held back in full duplex', () => {
    const stream = new Stream({ request: 'full_duplex' });
    stream.picker.planned = READ;
    stream.picker.answer = () => pickOf('p1', { body: REPLACED });
    stream.requestHeaders();
    stream.requestBody('{"model":', false);

    const answers = stream.requestBody('"alias"}');

    expect(answers.map(bodyIn).filter((each) => each !== undefined)).toEqual([
      { $case: 'streamedResponse', value: expect.objectContaining({ body: REPLACED, endOfStream: true }) },
    ]);
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

  it('names the rank that the body named', () => {
    const stream = new Stream();
    stream.picker.answer = () => pickOf('p1', { rank: 1 });
    stream.requestHeaders();

    const [answer] = stream.responseHeaders({ attributes: attributes(VIA) });

    expect(changesIn(answer).set).toEqual({ 'x-smg-routed-worker-id': 'worker-at-10.0.0.2:8000@1' });
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

describe('the outcome of a pick, by its response headers', () => {
  const attributes = (fields: Record<string, string | number>) => ({ 'envoy.filters.http.ext_proc': fields });
  const served = { filterMetadata: { picker: { served: '10.0.0.3:8000' } } };
  const protocol = { filterMetadata: { 'envoy.lb': { 'x-gateway-destination-endpoint-served': '10.0.0.2:8000' } } };
  const REFUSED = 'upstream_reset_before_response_started{remote_connection_failure}';
  const SEEN: SeenResponse = {
    pickId: 'p1',
    destination: '10.0.0.1:8000,10.0.0.2:8000',
    address: '',
    status: 200,
    codeDetails: null,
    attempts: null,
  };

  it.each<[string, Parameters<Stream['responseHeaders']>, Partial<SeenResponse>]>([
    [
      'attributes',
      [
        {
          attributes: attributes({
            'response.code_details': 'via_upstream',
            'upstream.address': '10.0.0.2:8000',
            'upstream.request_attempt_count': 2,
          }),
        },
      ],
      { address: '10.0.0.2:8000', codeDetails: 'via_upstream', attempts: 2 },
    ],
    ['the served host alone', [{ metadataContext: served }, '503'], { address: '10.0.0.3:8000', status: 503 }],
    ['the key of the protocol', [{ metadataContext: protocol }], { address: '10.0.0.2:8000' }],
    [
      'the key of the protocol before all else',
      [
        {
          metadataContext: { filterMetadata: { ...served.filterMetadata, ...protocol.filterMetadata } },
          attributes: attributes({ 'upstream.address': '10.0.0.9:8000' }),
        },
      ],
      { address: '10.0.0.2:8000' },
    ],
    [
      "Envoy's own answer, with the host that failed",
      [{ metadataContext: served, attributes: attributes({ 'response.code_details': REFUSED }) }, '503'],
      { address: '10.0.0.3:8000', status: 503, codeDetails: REFUSED },
    ],
    ['nobody named', [{}], {}],
  ])('%s (endpoint-picker-protocol 5)', (_, response, seen) => {
    const stream = new Stream();
    stream.requestHeaders();

    stream.responseHeaders(...response);

    expect(stream.picker.responses).toEqual([{ ...SEEN, ...seen }]);
  });

  it('is not told without a status', () => {
    const stream = new Stream();
    stream.requestHeaders();
    stream.responseHeaders({ metadataContext: served }, '');

    expect(stream.picker.responses).toEqual([]);
  });

  it("is the access log's to tell where one is promised", () => {
    const ours = new Stream({}, {}, { 'x-smg-envoy': 'periodic=10' });
    ours.requestHeaders();
    ours.responseHeaders({ metadataContext: served });

    expect(ours.picker.responses).toEqual([]);
  });

  it("is nobody's without a pick", () => {
    const stream = new Stream();
    stream.picker.answer = () => ({ kind: 'pass' });
    stream.requestHeaders();
    stream.responseHeaders({ metadataContext: served });

    expect(stream.picker.responses).toEqual([]);
  });
});

describe('the id of a pick that waits for the body', () => {
  const told = (answer: ProcessingResponse | undefined) => answer?.dynamicMetadata;

  it.each<BodyMode>(['none', 'buffered', 'buffered_partial'])('goes ahead with the headers, mode %s', (request) => {
    const stream = new Stream({ request }, {}, { 'x-smg-envoy': 'periodic=10' });
    stream.picker.planned = READ;

    expect(told(stream.requestHeaders()[0])).toEqual({ picker: { pick_id: 'reserved' } });
    stream.requestBody('{}');
    expect(stream.picker.asked.map(({ facts }) => facts.pickId)).toEqual(['reserved']);
  });

  it('stays here where no log would tell of it, where the headers decide, and where nothing is answered before', () => {
    const foreign = new Stream();
    const duplex = new Stream({ request: 'full_duplex' }, {}, { 'x-smg-envoy': 'periodic=10' });
    for (const stream of [foreign, duplex]) stream.picker.planned = READ;
    const byHead = new Stream({}, {}, { 'x-smg-envoy': 'periodic=10' });

    expect(told(foreign.requestHeaders()[0])).toBeUndefined();
    expect(duplex.requestHeaders()).toEqual([]);
    foreign.requestBody('{}');
    duplex.requestBody('{}');
    byHead.requestHeaders();
    const asked = [foreign, duplex, byHead].map(({ picker }) => picker.asked[0]?.facts.pickId);
    expect(asked).toEqual([null, null, null]);
  });
});
