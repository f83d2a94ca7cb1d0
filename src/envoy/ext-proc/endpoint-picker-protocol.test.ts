import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../../test/support/fleet.ts';
import type { Answer } from '../../picker/answer.ts';
import { changesIn, chunksIn, HEADERS_DO, httpHeaders, pickOf, READ, REFUSAL, Stream } from './fixture.suite.ts';
import { BODY_MODES, type BodyMode } from './message.ts';

/** endpoint-picker-protocol 10 over one stream. The list of `docs/guides/endpoint-picker-protocol.md` says what stands where. */

const BOTH = { request: 'full_duplex', response: 'full_duplex' } as const;
const LIST = '10.0.0.1:8000,10.0.0.2:8000';
const NAME = 'x-gateway-destination-endpoint';
const OURS = { 'x-smg-envoy': 'periodic=10' };

const hint = (value: unknown) => ({
  metadataContext: { filterMetadata: { 'envoy.lb.subset_hint': { [`${NAME}-subset`]: value } } },
});
const allowed = (stream: Stream, asked = 0): boolean[] | null => {
  const subset = stream.picker.asked[asked]?.facts.subset ?? null;
  if (subset === null) return null;
  return ['10.0.0.1:8000', '10.0.0.2:8000'].map((address) => subset.allows({ ...makeWorker('w'), address }));
};
const POST = { ':method': 'POST', ':path': '/v1/chat/completions', 'content-type': 'application/json' };

describe('P1 header and metadata', () => {
  it.each([
    ['of an Envoy that is not ours', {}],
    ['of ours, whose cluster reads metadata and whose routes remove the header', OURS],
  ])('are both there and equal %s', (_name, mark) => {
    for (const planned of [HEADERS_DO, READ]) {
      const stream = new Stream(BOTH, {}, mark);
      stream.picker.planned = planned;
      stream.requestHeaders();
      stream.requestBody('{}');
      const [answer] = stream.call.sent;

      expect(answer?.dynamicMetadata?.['envoy.lb']).toEqual({ [NAME]: LIST });
      expect(changesIn(answer).set[NAME]).toBe(LIST);
      expect(answer?.response?.$case === 'requestHeaders' && answer.response.value.response?.clearRouteCache).toBe(
        true,
      );
    }
  });
});

describe('P2 and P3 the subset hint', () => {
  it.each<[string, (stream: Stream) => void]>([
    ['the headers', (stream) => headers(stream, hint(['10.0.0.2']))],
    [
      'the last piece of the body',
      (stream) => {
        headers(stream);
        body(stream, false);
        body(stream, true, hint('10.0.0.2:8000'));
      },
    ],
    [
      'the first that has it, whatever later ones say',
      (stream) => {
        headers(stream);
        body(stream, false, hint('10.0.0.2:8000'));
        body(stream, true, hint(['10.0.0.1']));
      },
    ],
    [
      'the trailers',
      (stream) => {
        headers(stream);
        body(stream, false);
        stream.receive({ request: { $case: 'requestTrailers', value: {} }, ...hint(['10.0.0.2']) });
      },
    ],
  ])('is read from %s', (_name, send) => {
    const stream = new Stream(BOTH);
    stream.picker.planned = READ;
    send(stream);
    if (stream.picker.asked.length === 0) body(stream, true);

    expect(allowed(stream)).toEqual([false, true]);
  });

  it.each<[string, object, boolean[] | null]>([
    ['no metadata', {}, null],
    ['another namespace', { metadataContext: { filterMetadata: { 'envoy.lb': { [`${NAME}-subset`]: 'x' } } } }, null],
    ['another key', { metadataContext: { filterMetadata: { 'envoy.lb.subset_hint': { other: 'x' } } } }, null],
    ['an empty list', hint([]), [false, false]],
    ['null', hint(null), [false, false]],
    ['a number', hint(7), [false, false]],
    ['a struct', hint({ '10.0.0.1': true }), [false, false]],
    ['a list', hint(['10.0.0.1:8000']), [true, false]],
  ])('of a request without a body: %s', (_name, message, expected) => {
    const stream = new Stream();
    headers(stream, message, true);

    expect(allowed(stream)).toEqual(expected);
  });

  it('is read from the body message of buffered modes, too', () => {
    const stream = new Stream({ request: 'buffered' });
    stream.picker.planned = READ;
    headers(stream);
    body(stream, true, hint('10.0.0.1'));

    expect(allowed(stream)).toEqual([true, false]);
  });
});

describe('P4 refusals', () => {
  it.each([503, 429])(
    '%i is an immediate response, before any header answer, on a stream that ends with OK',
    (status) => {
      for (const planned of [HEADERS_DO, READ]) {
        const stream = new Stream(BOTH);
        stream.picker.planned = planned;
        stream.picker.answer = () => ({ ...REFUSAL, status });
        stream.requestHeaders();
        if (planned === READ) stream.requestBody('{}');
        // Whatever Envoy sent before it saw the answer.
        stream.requestBody('more');
        stream.halfClose();
        stream.close();

        expect(stream.call.kinds).toEqual(['immediateResponse']);
        const { response } = stream.call.sent[0] ?? {};
        expect(response?.$case === 'immediateResponse' && response.value.status?.code).toBe(status);
        expect(stream.call.ended).toEqual({ status: 0, details: '' });
      }
    },
  );

  it('is given while the service drains, too', () => {
    const stream = new Stream(BOTH);
    stream.method.drain();
    stream.picker.answer = () => ({ ...REFUSAL, status: 503 });
    stream.requestHeaders();

    expect(stream.call.kinds).toEqual(['immediateResponse']);
  });
});

describe('P5 what would cut a body', () => {
  it('ends with an error what cannot be read amid a body, so that nothing passes as whole', () => {
    const stream = new Stream(BOTH);
    stream.requestHeaders();
    stream.requestBody('abc', false);

    stream.raw(Buffer.from([0xff, 0xff, 0xff]));

    expect(stream.call.ended).toMatchObject({ status: 3 });
    expect(stream.observer.notes).toContain('passed:protocol_error');
  });

  it('takes the length of a replaced body away', () => {
    const stream = new Stream(BOTH);
    stream.picker.planned = READ;
    stream.picker.answer = () => pickOf('p1', { body: Buffer.from('{"model":"m"}') });
    stream.requestHeaders({ 'content-length': '2' });
    stream.requestBody('{}');

    expect(changesIn(stream.call.sent[0]).remove).toEqual(['content-length']);
    expect(Buffer.concat(chunksIn(stream.call.sent.slice(1)).map((chunk) => chunk.body)).toString()).toBe(
      '{"model":"m"}',
    );
  });
});

describe('P6 the same pick', () => {
  it.each(['none', 'buffered', 'buffered_partial', 'full_duplex'] as const)('by its body in mode %s', (request) => {
    expect(pickBy(request)).toEqual({ body: '{}', lb: { [NAME]: LIST } });
  });

  it('by its headers where the request has gone on before its body is seen', () => {
    expect(pickBy('streamed')).toEqual({ body: undefined, lb: { [NAME]: LIST } });
  });

  function pickBy(request: BodyMode) {
    const stream = new Stream({ request });
    stream.picker.planned = READ;
    stream.requestHeaders();
    stream.requestBody('{}');
    const picks = stream.call.sent.flatMap((answer) => answer.dynamicMetadata?.['envoy.lb'] ?? []);
    expect(picks).toHaveLength(1);
    return { body: stream.picker.asked[0]?.body?.bytes.toString(), lb: picks[0] };
  }
});

describe('P7 trailers', () => {
  it.each(BODY_MODES)('are answered in both directions, mode %s', (mode) => {
    const stream = new Stream({ request: mode, response: mode });
    stream.requestHeaders();
    stream.requestBody('{}', false);
    stream.requestTrailers();
    stream.responseHeaders();
    stream.responseBody('x', false);
    stream.responseTrailers();

    expect(stream.call.kinds.filter((kind) => kind.endsWith('Trailers'))).toEqual([
      'requestTrailers',
      'responseTrailers',
    ]);
    expect(stream.call.kinds.at(-1)).toBe('responseTrailers');
  });
});

describe('P8 names of endpoints that a client sends', () => {
  const forged = [NAME, `${NAME}-subset`, `${NAME}-served`, `${NAME}-fallback`, `${NAME}-of-tomorrow`];

  it.each(BODY_MODES)('never go on, mode %s', (request) => {
    for (const answer of [pickOf('p1'), { kind: 'pass' } as const]) {
      const stream = new Stream({ request });
      stream.picker.answer = (): Answer => answer;

      const [first] = stream.requestHeaders(Object.fromEntries(forged.map((name) => [name, '6.6.6.6:1'])));

      expect(changesIn(first).remove).toEqual(forged);
      expect(JSON.stringify(changesIn(first).set)).not.toContain('6.6.6.6');
    }
  });
});

describe('P11 the end of a request', () => {
  it.each<[string, { request?: BodyMode; response?: BodyMode }, Record<string, string>, boolean, string[]]>([
    ['response not delivered', {}, {}, false, []],
    ['response headers delivered', {}, {}, true, ['p1']],
    ['response headers delivered, but an access log will tell', {}, OURS, true, []],
    ['full duplex', BOTH, {}, true, ['p1']],
    ['full duplex, client left before the response', BOTH, {}, false, ['p1']],
    ['full duplex of ours', BOTH, OURS, true, ['p1']],
  ])('is the end of its stream: %s', (_name, modes, mark, delivered, ended) => {
    const stream = new Stream(modes, {}, mark);
    stream.requestHeaders();
    stream.requestBody('{}');
    if (delivered) {
      stream.responseHeaders();
      stream.responseBody('x', false);
      expect(stream.picker.ended).toEqual([]);
    }
    stream.halfClose();
    stream.close();

    expect(stream.picker.ended).toEqual(ended);
  });
});

describe('endpoint-picker-protocol 9 with --test-endpoint-selection', () => {
  const served = { metadataContext: { filterMetadata: { 'envoy.lb': { [`${NAME}-served`]: '10.0.0.2:8000' } } } };
  const on = { testEndpointSelection: true };

  it('the header of the suite ends here, and the worker is asked to name the endpoint', () => {
    const stream = new Stream(BOTH, on);

    const [answer] = stream.requestHeaders({ 'test-epp-endpoint-selection': '10.0.0.2' });

    expect(changesIn(answer)).toEqual({
      set: { [NAME]: LIST, 'x-echo-set-header': 'x-conformance-test-served-endpoint:10.0.0.1:8000' },
      remove: ['test-epp-endpoint-selection'],
    });
  });

  it.each([{}, OURS])('the response names the endpoint that served, mark %j', (mark) => {
    const stream = new Stream(BOTH, on, mark);
    stream.requestHeaders({}, true);

    expect(changesIn(stream.responseHeaders(served)[0]).set['x-conformance-test-served-endpoint']).toBe(
      '10.0.0.2:8000',
    );
    expect(changesIn(stream.responseHeaders()[0]).set['x-conformance-test-served-endpoint']).toBeUndefined();
  });

  it('nothing of it happens without the switch', () => {
    const stream = new Stream(BOTH);
    const [answer] = stream.requestHeaders({ 'test-epp-endpoint-selection': '10.0.0.2' }, true);

    expect(changesIn(answer)).toEqual({ set: { [NAME]: LIST }, remove: [] });
    expect(changesIn(stream.responseHeaders(served)[0]).set).toEqual({
      'x-smg-routed-worker-id': 'worker-at-10.0.0.2:8000',
    });
  });
});

function headers(stream: Stream, more: object = {}, endOfStream = false): void {
  stream.receive({ request: { $case: 'requestHeaders', value: httpHeaders(POST, endOfStream) }, ...more });
}

function body(stream: Stream, endOfStream: boolean, more: object = {}): void {
  stream.receive({ request: { $case: 'requestBody', value: { body: Buffer.from('{}'), endOfStream } }, ...more });
}
