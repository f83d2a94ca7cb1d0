import { describe, expect, it, vi } from 'vitest';
import { FakeCall } from '../../../test/support/fake-call.ts';
import { CheckRequest, CheckResponse } from '../../gen/envoy/service/auth/v3/external_auth.ts';
import type { FinalAnswer } from '../../picker/answer.ts';
import { FakePicker, NotedEvents, pickOf, READ, REFUSAL } from '../ext-proc/fixture.suite.ts';
import { ExtAuthz } from './ext-authz.ts';
import type { ExtAuthzOptions } from './settings.ts';

const OURS = { 'x-smg-envoy': 'periodic=10' };

/** One check of an Envoy against a fake picker. */
class CheckBench {
  readonly picker = new FakePicker();
  readonly observer = new NotedEvents();
  readonly call: FakeCall;

  constructor(metadata: Record<string, string> = OURS, options: Partial<ExtAuthzOptions> = {}) {
    const parts = { picker: this.picker, observer: this.observer, destinationHeader: 'auto', decisionTimeoutMs: 250 };
    this.call = new FakeCall(new ExtAuthz({ ...parts, ...options }), metadata);
  }

  asks(headers: Record<string, string> = {}, body = ''): this {
    const http = {
      method: 'POST',
      path: '/v1/chat/completions',
      protocol: 'HTTP/1.1',
      headerMap: {
        headers: Object.entries({ 'content-type': 'application/json', 'content-length': '99', ...headers }).map(
          ([key, value]) => ({ key, rawValue: Buffer.from(value) }),
        ),
      },
      rawBody: Buffer.from(body),
    };
    this.call.receive(CheckRequest.encode({ attributes: { request: { http } } }).finish());
    this.call.halfClose();
    return this;
  }

  get answer(): CheckResponse {
    expect(this.call.sent).toHaveLength(1);
    expect(this.call.status).toBe(0);
    return CheckResponse.decode(this.call.sent[0]!);
  }

  /** What the answer changes, as text. */
  get changes() {
    const response = this.answer.httpResponse;
    if (response?.$case !== 'okResponse') throw new Error('not let go on');
    const pairs = (options: typeof response.value.headers) =>
      Object.fromEntries((options ?? []).map(({ header }) => [header?.key, header?.value]));
    return {
      set: pairs(response.value.headers),
      remove: response.value.headersToRemove,
      response: pairs(response.value.responseHeadersToAdd),
    };
  }
}

function lateAnswer() {
  let resolve: (answer: FinalAnswer) => void = () => undefined;
  const promise = new Promise<FinalAnswer>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe('envoy 11.2 a pick', () => {
  it('of our own configuration goes by metadata alone', () => {
    const bench = new CheckBench().asks();

    expect(bench.answer.dynamicMetadata).toEqual({
      'x-gateway-destination-endpoint': '10.0.0.1:8000,10.0.0.2:8000',
      pick_id: 'p1',
    });
    expect(bench.changes).toEqual({ set: {}, remove: [], response: {} });
    expect(bench.picker.asked[0]?.facts).toEqual({
      periodicLogMs: 10_000,
      endpointPicker: false,
      editsBody: false,
      pickId: null,
      subset: null,
    });
    expect(bench.observer.notes).toEqual(['message:check_request', 'bodyPath:header_only', 'answer:ok_response']);
  });

  it('of a foreign configuration also goes by header, and the answer names the worker that was meant', () => {
    const bench = new CheckBench({});
    bench.picker.answer = () => pickOf('p1', { decisionHeader: 'branch=x' });
    bench.asks({ 'x-gateway-destination-endpoint': '6.6.6.6:1' });

    expect(bench.changes).toEqual({
      // Envoy sets first and removes then: what is set is not removed.
      set: { 'x-gateway-destination-endpoint': '10.0.0.1:8000,10.0.0.2:8000' },
      remove: [],
      response: { 'x-smg-routed-worker-id': 'worker-at-10.0.0.1:8000', 'x-smg-decision': 'branch=x' },
    });
    expect(bench.answer.dynamicMetadata).toMatchObject({ pick_id: 'p1', decision: 'branch=x' });
    expect(bench.picker.asked[0]?.facts).toMatchObject({ periodicLogMs: 0, endpointPicker: false, editsBody: false });
  });

  it.each([
    ['', {}],
    ['x-destination', { 'x-destination': '10.0.0.1:8000,10.0.0.2:8000' }],
  ])('decisions 21: a foreign configuration with --destination-header %j', (destinationHeader, set) => {
    const bench = new CheckBench({}, { destinationHeader }).asks();
    expect(bench.changes.set).toEqual(set);
  });

  it('no stamp where the worker has none, or its name holds control characters', () => {
    for (const stamp of [null, 'a\nb']) {
      const bench = new CheckBench({});
      bench.picker.stampOf = () => stamp;
      expect(bench.asks().changes.response).toEqual({});
    }
  });

  it('of a strict target lets nobody else serve', () => {
    const bench = new CheckBench();
    bench.picker.answer = () => pickOf('p1', { destination: '10.0.0.1:8000', strict: true, maxRetries: 0 });
    bench.asks({ 'x-smg-target-worker': '0', 'x-smg-strict': 'forged' });

    expect(bench.changes).toMatchObject({
      set: { 'x-envoy-max-retries': '0', 'x-smg-strict': '1' },
      remove: ['x-smg-target-worker'],
    });
    expect(bench.answer.dynamicMetadata).toMatchObject({ strict: '1' });
  });

  it('names the request and removes control headers', () => {
    const bench = new CheckBench();
    bench.picker.answer = () => pickOf('p1', { requestId: 'chatcmpl-1', maxRetries: 2 });
    bench.asks({ 'x-smg-mcp': 'a', 'x-smg-routing-key': 'k' });

    expect(bench.changes).toMatchObject({
      set: { 'x-request-id': 'chatcmpl-1', 'x-envoy-max-retries': '2' },
      remove: ['x-smg-mcp'],
    });
  });

  it('decisions 30: leaves out what Envoy would answer 500 for', () => {
    const bench = new CheckBench();
    bench.picker.answer = () => pickOf('p1', { requestId: 'a\nb' });
    expect(bench.asks().changes.set).toEqual({});
    expect(bench.observer.notes).toContain('headerLeftOut:x-request-id');
  });
});

describe('what decides is what was sent (envoy 11.1)', () => {
  it.each([
    ['the body where it is wanted and there', READ, '{"rid":"a"}', 'routing_key_override', '{"rid":"a"}'],
    ['the headers where the body is wanted and not there', READ, '', 'mode_cannot_grant', undefined],
    ['the headers where nobody wants the body', null, '{"rid":"a"}', 'header_only', undefined],
  ] as const)('%s', (_, plan, body, reason, read) => {
    const bench = new CheckBench();
    if (plan !== null) bench.picker.planned = plan;
    bench.asks({}, body);

    expect(bench.picker.asked[0]?.body?.bytes.toString()).toBe(read);
    expect(bench.observer.notes).toContain(`bodyPath:${reason}`);
  });

  it('a prefix as a prefix', () => {
    const bench = new CheckBench();
    bench.picker.planned = READ;
    bench.asks({ 'x-envoy-auth-partial-body': 'true' }, '{"rid":"a"');
    expect(bench.picker.asked[0]?.body?.complete).toBe(false);
  });
});

describe('interface 10 a refusal', () => {
  it('is a denied response in the envelope, with its code in the metadata', () => {
    const bench = new CheckBench();
    bench.picker.answer = () => REFUSAL;
    bench.asks();

    const denied = bench.answer.httpResponse;
    if (denied?.$case !== 'deniedResponse') throw new Error('not denied');
    expect(denied.value.status?.code).toBe(404);
    expect(Object.fromEntries((denied.value.headers ?? []).map(({ header }) => [header?.key, header?.value]))).toEqual({
      'content-type': 'application/json',
      'x-smg-error-code': 'model_not_found',
      'x-request-id': 'chatcmpl-1',
      'retry-after': '10',
    });
    expect(JSON.parse(denied.value.body ?? '')).toEqual({
      error: { type: 'Not Found', code: 'model_not_found', message: REFUSAL.message, param: null },
    });
    expect(bench.answer.dynamicMetadata).toEqual({ error_code: 'model_not_found' });
    expect(bench.observer.notes).toContain('answer:denied_response');
  });
});

describe('interface 10 a failure of ours lets the request go on without a pick', () => {
  const goesOn = (bench: CheckBench, note: string): void => {
    expect(bench.answer.httpResponse?.$case).toBe('okResponse');
    expect(bench.answer.dynamicMetadata).toBeUndefined();
    expect(bench.observer.notes).toContain(note);
  };

  it('bytes that are no message', () => {
    const bench = new CheckBench();
    bench.call.receive(Buffer.from([0x0a, 0xff]));
    goesOn(bench, 'passed:protocol_error');
    expect(bench.observer.notes).toContain('message:unknown');
  });

  it('a picker that throws, also while planning', () => {
    const bench = new CheckBench();
    bench.picker.plan = () => {
      throw new Error('no plan');
    };
    bench.picker.answer = () => {
      throw new Error('broken');
    };
    goesOn(bench.asks(), 'passed:internal_error');
    expect(bench.observer.notes).toContain('pickFailed:no plan');
  });

  it('a picker that says so; control headers go nevertheless', () => {
    const bench = new CheckBench();
    bench.picker.answer = () => ({ kind: 'pass' });
    bench.asks({ 'x-smg-target-worker': '1' });
    expect(bench.changes).toEqual({ set: {}, remove: ['x-smg-target-worker'], response: {} });
  });

  it('decisions 11: a picker that takes too long, whose late pick is abandoned', async () => {
    vi.useFakeTimers();
    try {
      const bench = new CheckBench();
      const { promise, resolve } = lateAnswer();
      bench.picker.answer = () => promise;
      bench.asks();
      expect(bench.call.sent).toEqual([]);

      await vi.advanceTimersByTimeAsync(250);
      goesOn(bench, 'passed:deadline');
      resolve(pickOf('late'));
      await vi.advanceTimersByTimeAsync(0);
      expect(bench.picker.abandoned).toEqual(['late']);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the life of a call', () => {
  it('a client that left before the answer leaves no pick in flight', async () => {
    const bench = new CheckBench();
    const { promise, resolve } = lateAnswer();
    bench.picker.answer = () => promise;
    bench.asks().call.leave();

    resolve(pickOf('late'));
    await promise;
    expect(bench.picker.abandoned).toEqual(['late']);
    expect(bench.call.sent).toEqual([]);
  });

  it('decisions 27: a pick that waits for a prefill is waited for, and cancelled with its client', async () => {
    const cancel = vi.fn();
    const waits = (answer: Promise<FinalAnswer>) => ({ kind: 'deferred' as const, timeoutMs: 60_000, answer, cancel });
    const bench = new CheckBench();
    bench.picker.answer = () => waits(Promise.resolve(pickOf('p2')));
    bench.asks();
    await Promise.resolve();
    expect(bench.answer.dynamicMetadata).toMatchObject({ pick_id: 'p2' });
    expect(cancel).not.toHaveBeenCalled();

    const other = new CheckBench();
    other.picker.answer = () => waits(new Promise(() => undefined));
    other.asks().call.leave();
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('no request is an error of the caller', () => {
    const bench = new CheckBench();
    bench.call.halfClose();
    expect([bench.call.status, bench.call.details]).toEqual([3, 'no request']);
  });
});
