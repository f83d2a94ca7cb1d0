import { describe, expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { at, deferred, HANDOFF, house, picked } from '../../test/support/pair-bench.ts';
import { FACTS, type PickerBench, urlOf } from '../../test/support/picker-bench.ts';
import type { PickAnswer } from './answer.ts';
import type { Handoff } from './prefill-dispatch.ts';

describe('decisions 27: a request for two workers', () => {
  it('waits for its prefill, then goes to the decode worker with what came of it', async () => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({ model: 'm' }));
    expect(answer.timeoutMs).toBe(60_000);
    expect(dispatch.last.order).toMatchObject({
      endpoint: 'chat',
      model: null,
      mostBodyBytes: 16_777_216,
      prefill: { id: urlOf(1) },
      decode: { id: urlOf(3) },
    });
    expect(dispatch.last.order.body?.bytes.toString()).toBe('{"model":"m"}');
    expect(dispatch.last.order.requestId).toMatch(/^chatcmpl-/);

    await dispatch.last.over(HANDOFF, 'success');
    const pick = picked(await answer.answer);
    expect(pick).toMatchObject({
      destination: `${at(3)},${at(4)}`,
      maxRetries: null,
      prefillHeader: null,
      prefillMirror: null,
    });
    expect(pick.body?.toString()).toBe('{"kv":1}');
    expect(loads()).toBe('0010');
    bench.end(pick.pickId, 3);
    expect(loads()).toBe('0000');
  });

  it.each<[what: string, handoff: Partial<Handoff>, pick: Partial<PickAnswer>]>([
    ['nothing to hand on', { body: null }, { body: null, destination: `${at(3)},${at(4)}` }],
    ['a sidecar', { body: null, leftTo: 'sidecar' }, { prefillHeader: at(1), prefillMirror: null }],
    ['a mirror', { leftTo: 'envoy' }, { prefillHeader: null, prefillMirror: `${at(1)},${at(1)}` }],
  ])('goes out at once with %s', (_, handoff, pick) => {
    const { bench, dispatch } = house();
    dispatch.atOnce = { ...HANDOFF, ...handoff };
    expect(bench.ask({})).toMatchObject({ kind: 'pick', ...pick });
  });

  it('where a decode worker does not fit, Envoy may not go on beyond the list', () => {
    const { bench, dispatch } = house();
    bench.add(5, { worker_type: 'decode', runtime_type: 'sglang' });
    dispatch.atOnce = HANDOFF;
    expect(bench.ask({})).toMatchObject({ destination: `${at(3)},${at(4)}`, maxRetries: 1 });
  });

  it('tells dispatch what it may hand on', () => {
    const { bench, dispatch } = house({ config: { modelAliases: new Map([['alias', 'canonical']]) } });
    void bench.ask({ model: 'alias' }, {}, { ...FACTS, editsBody: false });
    void bench.ask({ model: 'alias' }, {}, { ...FACTS, endpointPicker: true });
    expect(dispatch.orders.map(({ mostBodyBytes, model }) => [mostBodyBytes, model])).toEqual([
      [0, 'canonical'],
      [Number.POSITIVE_INFINITY, 'canonical'],
    ]);
  });

  it.each<[what: string, bytes: string, complete: boolean, headers: [string, string][]]>([
    ['cut', '{"model":"m"', false, []],
    ['encoded', '{}', true, [['content-encoding', 'gzip']]],
  ])('has no body for dispatch where it is %s', (_, bytes, complete, headers) => {
    const { bench, dispatch } = house();
    const head = headOf({ method: 'POST', path: '/v1/chat/completions', headers });
    dispatch.atOnce = { ...HANDOFF, body: null };
    expect(bench.picker.pick(head, { bytes: Buffer.from(bytes), complete }, FACTS)).toMatchObject({ kind: 'pick' });
    expect(dispatch.orders.map(({ body }) => body)).toEqual([null]);
  });

  it('a shared pin store is asked about both legs', async () => {
    const asked: string[] = [];
    const { bench, dispatch } = house({
      keys: { override: true },
      pins: (local) =>
        ({
          get: (key, now) => local.get(key, now),
          peek: (key) => local.peek(key),
          touch: (key, now) => local.touch(key, now),
          put: (key, candidates, version, now) => {
            asked.push(key);
            return Promise.resolve(local.put(key, candidates, version, now));
          },
        }) as PickerBench['pins'],
    });
    const answer = deferred(await bench.ask({ rid: 'a' }));
    expect(asked.sort()).toEqual(['7:unknown:d:a', '7:unknown:p:a']);
    await dispatch.last.over(HANDOFF, 'success');
    expect((await answer.answer).kind).toBe('pick');
  });
});

describe('what is told of a pair', () => {
  it('metrics of both legs, one request', async () => {
    const { bench, dispatch } = house({ keys: { override: true } });
    const answer = deferred(bench.ask({ rid: 'a', stream: true }));
    await dispatch.last.over(HANDOFF, 'success');
    bench.end(picked(await answer.answer).pickId, 3);
    const { metrics } = bench;
    for (const leg of ['prefill', 'decode'] as const) {
      expect(metrics.workerSelections.cell(leg, 'http', 'unknown', 'round_robin').value).toBe(1);
    }
    expect(metrics.manualBranches.cell('vacant').value).toBe(2);
    expect(metrics.routingKeySources.cell('rid').value).toBe(2);
    expect(metrics.routerRequests.cell('http', 'pd', 'http', 'unknown', 'chat', 'true').value).toBe(1);
    expect(metrics.requestDuration.cell('http', 'pd', 'http', 'unknown', 'chat').sum).toBe(0.005);
    expect(metrics.pdTimeToFirstToken.cell('pd', 'unknown', 'vllm').sum).toBe(0.004);
  });

  it('an error has no first token', () => {
    const { bench, dispatch } = house();
    dispatch.atOnce = HANDOFF;
    bench.end(bench.pick({}).pickId, 3, { status: 400 });
    expect(bench.metrics.pdTimeToFirstToken.cell('pd', 'unknown', 'vllm').sum).toBe(0);
  });

  it('the decision header and the log name both', () => {
    const { bench, dispatch } = house({
      keys: { override: true },
      config: { decisionHeader: true },
      logLevel: 'debug',
    });
    dispatch.atOnce = HANDOFF;
    expect(bench.pick({ rid: 'a' }).decisionHeader).toBe(
      `branch=vacant; source=rid; policy=round_robin; prefill-branch=vacant; prefill-policy=round_robin; prefill=${urlOf(1)}`,
    );
    expect(bench.logged.join()).toContain(`"worker":"${urlOf(3)}"`);
    expect(bench.logged.join()).toContain(`"prefill":"${urlOf(1)}"`);
  });

  it.each<[what: string, path: string, down: number[], status: number, code: string, message: string]>([
    [
      'no prefill worker',
      '/v1/chat/completions',
      [1, 2],
      503,
      'no_available_workers',
      'No available servers: No available prefill workers (all circuits open or unhealthy)',
    ],
    [
      'no decode worker',
      '/v1/chat/completions',
      [3, 4],
      503,
      'no_available_workers',
      'No available servers: No available decode workers (all circuits open or unhealthy)',
    ],
    [
      'an endpoint of no leg',
      '/v1/embeddings',
      [],
      501,
      'endpoint_not_supported',
      'Prefill and decode workers do not serve this endpoint',
    ],
  ])('sticky-sessions 7.2: %s', (_, path, down, status, code, message) => {
    const { bench } = house();
    for (const n of down) bench.down(n);
    expect(bench.refusal({}, { path })).toMatchObject({ status, code, message });
    expect(
      bench.metrics.routerRequests.cell(
        'http',
        'pd',
        'http',
        'unknown',
        path.includes('chat') ? 'chat' : 'embeddings',
        'false',
      ).value,
    ).toBe(1);
  });

  it('a strict target that Envoy does not know is a miss of its leg', () => {
    const { bench } = house({ policy: 'consistent_hashing', envoyKnows: (address) => address !== at(4) });
    expect(bench.refusal({}, { headers: [['x-smg-target-worker', '1']] })).toMatchObject({
      status: 503,
      code: 'no_available_workers',
      message: 'No available servers: All workers are unavailable (circuit breaker open or unhealthy)',
    });
    const requests = bench.metrics.routerRequests;
    expect(requests.cell('http', 'pd', 'http', 'unknown', 'chat', 'false').value).toBe(1);
  });

  it('no two that fit', () => {
    const { bench } = house();
    for (const n of [3, 4]) {
      bench.registry.remove(urlOf(n));
      bench.add(n, { worker_type: 'decode', runtime_type: 'sglang' });
    }
    expect(bench.refusal({})).toMatchObject({
      status: 503,
      code: 'no_compatible_pd_pair',
      message:
        'No prefill/decode pair shares a KV transfer protocol (mismatch on ["runtime"]; prefill: ["vllm/?/?"], decode: ["sglang/?/?"])',
    });
  });
});

describe('what is read of a request that is split', () => {
  it('its body', () => {
    const { bench } = house({ keys: { override: false } });
    const head = headOf({ method: 'POST', path: '/v1/chat/completions' });
    expect(bench.picker.plan(head)).toEqual({ readBody: true, reason: 'pd' });
  });

  it('policies 4.5: its token hint does not count', () => {
    const { bench, dispatch } = house({ policy: 'cache_aware', keys: { override: false } });
    dispatch.atOnce = HANDOFF;
    const ask = (text: string, hint: string) =>
      bench.pick({ messages: [{ role: 'user', content: text }] }, { headers: [['x-smg-routing-tokens', hint]] });
    const first = ask('the same words all over again', '1,2,3').destination;
    expect(ask('the same words all over again', '7,8,9').destination).toBe(first);
    expect(bench.metrics.cacheAwareBranches.cell('tree_match').value).toBeGreaterThan(0);
  });
});
