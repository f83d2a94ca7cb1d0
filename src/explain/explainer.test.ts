import { afterEach, describe, expect, it } from 'vitest';
import { Dispatch, HANDOFF } from '../../test/support/pair-bench.ts';
import { PickerBench, type PickerBenchOptions, urlOf } from '../../test/support/picker-bench.ts';
import type { PinStore } from '../pins/pin-store.ts';
import { keyHash } from '../telemetry/key-hash.ts';
import type { AskedRequest } from './asked-request.ts';
import { Explainer } from './explainer.ts';
import type { ExplainedLeg, ExplainedWorker, Explanation } from './explanation.ts';

const KEY: readonly [string, string] = ['x-smg-routing-key', 'conv'];

describe('interface 9 POST /explain, what it tells', () => {
  const benches: PickerBench[] = [];
  afterEach(() => {
    for (const { registry } of benches.splice(0)) registry.close();
  });

  function house(options: PickerBenchOptions = {}): PickerBench {
    const bench = new PickerBench({ keys: { override: true }, ...options });
    benches.push(bench);
    return bench;
  }

  function explain(
    bench: PickerBench,
    asked: Partial<Omit<AskedRequest, 'body'>> & { body?: object } = {},
  ): Explanation {
    const { picker, registry: fleet, pins } = bench;
    const body = Buffer.from(asked.body === undefined ? '' : JSON.stringify(asked.body));
    const request = { method: 'POST', path: '/v1/chat/completions', headers: [], subset: null, ...asked, body };
    return new Explainer({ picker, fleet, pins, clock: () => bench.now }).explain(request).explanation;
  }

  const legOf = ({ legs }: Explanation): ExplainedLeg => legs[0]!;
  const rowOf = (explanation: Explanation, n: number): ExplainedWorker =>
    legOf(explanation).workers.find(({ worker_id: id }) => id === urlOf(n))!;

  describe('why a worker is not eligible', () => {
    it.each<[string, (bench: PickerBench) => void, object]>([
      ['not ready', (bench) => bench.down(2), { why_not: ['not_ready'], keeps_pins: false, status: 'not_ready' }],
      ['draining', (bench) => bench.registry.drain(urlOf(2)), { why_not: ['draining'], keeps_pins: true }],
      [
        'its breaker is open',
        ({ registry }) => {
          for (let i = 0; i < 20; i++) registry.attempted(urlOf(2), 'failure');
        },
        { why_not: ['breaker_open'], breaker: 'open' },
      ],
      [
        'overloaded',
        ({ registry }) => registry.overloadJudged(new Map([[registry.instance(urlOf(2))!, true]])),
        { why_not: ['overloaded'], keeps_pins: false },
      ],
    ])('%s', (_, happens, row) => {
      const bench = house().ready(1, 2);
      happens(bench);

      expect(rowOf(explain(bench), 2)).toMatchObject({ eligible: false, place: null, ...row });
    });

    it('it does not list the model', () => {
      const bench = house();
      bench.add(1, { models: [{ id: 'm' }] });
      bench.add(2, { models: [{ id: 'other' }] });
      bench.registry.markSettled();

      expect(rowOf(explain(bench, { body: { model: 'm' } }), 2).why_not).toEqual(['wrong_model']);
    });

    it('nobody lists the model: what there is', () => {
      const bench = house();
      bench.add(1, { models: [{ id: 'm' }] });
      bench.add(2, { models: [{ id: 'n' }] });
      bench.registry.markSettled();

      const explanation = explain(bench, { body: { model: 'x' } });

      expect(explanation).toMatchObject({
        result: 'refused',
        reason: 'model_not_found',
        refusal: { status: 404, code: 'model_not_found' },
        known_models: ['m', 'n'],
        legs: [],
      });
    });

    it('the gateway leaves it out', () => {
      const explanation = explain(house().ready(1, 2), { subset: ['10.0.0.1:8000'] });

      expect(rowOf(explanation, 2).why_not).toEqual(['not_in_subset']);
    });

    it('gRPC requests have workers of their own', () => {
      const bench = house().ready(1);
      bench.addUrl('grpc://10.0.0.2:8000');

      const row = legOf(explain(bench)).workers.find(({ worker_id: id }) => id === 'grpc://10.0.0.2:8000');

      expect(row?.why_not).toEqual(['other_protocol']);
    });
  });

  describe('the key', () => {
    it.each<[string, PickerBenchOptions, Parameters<typeof explain>[1], object | null]>([
      ['of the body', {}, { body: { rid: 'conv_t1_r2' } }, { source: 'rid', dropped_suffix: '_t1_r2', use: 'pin' }],
      ['of a header', {}, { headers: [[KEY[0], 'conv_t1']] }, { source: 'header', dropped_suffix: '_t1', use: 'pin' }],
      [
        'of a query',
        { keys: { override: true, sources: ['query:s'] } },
        { path: '/v1/chat/completions?s=conv_r1' },
        { source: 'query', dropped_suffix: '_r1', use: 'pin' },
      ],
      [
        'under manual, which drops nothing',
        { policy: 'manual' },
        { headers: [[KEY[0], 'conv_t1']] },
        { source: 'header', dropped_suffix: '', use: 'pin', hash: expect.any(String) },
      ],
      ['of a ring', { policy: 'consistent_hashing' }, { headers: [KEY] }, { source: 'header', use: 'ring' }],
      [
        'of a ring, implicit',
        { policy: 'consistent_hashing' },
        { headers: [['authorization', 'conv']] },
        { source: 'implicit', use: 'ring' },
      ],
      ['that only counts', { keys: { override: false } }, { headers: [KEY] }, { source: 'header', use: 'count' }],
      ['that is none', {}, {}, null],
    ])('%s', (_, options, asked, key) => {
      const told = legOf(explain(house(options).ready(1, 2), asked)).key;

      if (key === null) expect(told).toBeNull();
      else expect(told).toMatchObject({ hash: keyHash('conv'), ...key });
    });
  });

  describe('the pin', () => {
    it('is held: who is on it, how busy, how old, and it stays', () => {
      const bench = house().ready(1, 2);
      bench.pick(null, { headers: [KEY] });
      bench.now += 1500;

      const explanation = explain(bench, { headers: [KEY] });

      expect(explanation).toMatchObject({ branch: 'occupied_hit', worker_id: urlOf(1) });
      expect(legOf(explanation).pin).toEqual({
        held: true,
        candidates: [{ worker_id: urlOf(1), serves: true, in_flight: 1 }],
        version: 1,
        idle_secs: 1.5,
        after: 'kept',
        inflight_cap: 2,
        store: 'memory',
        asks_store: false,
      });
    });

    it('is on a worker that cannot serve, and moves', () => {
      const bench = house().ready(1, 2);
      bench.pick(null, { headers: [KEY] });
      bench.down(1);

      const explanation = explain(bench, { headers: [KEY] });

      expect(explanation).toMatchObject({ branch: 'occupied_miss', worker_id: urlOf(2) });
      expect(legOf(explanation).pin).toMatchObject({ candidates: [{ serves: false }], after: 'written' });
    });

    it('would be asked of a shared store, which is left alone', () => {
      const never = () => {
        throw new Error('asked');
      };
      const shared = (local: PinStore): PinStore =>
        ({
          kind: 'redis',
          away: false,
          get: never,
          put: never,
          fetch: never,
          peek: (key: string) => local.peek(key),
          idleMs: (key: string, now: number) => local.idleMs(key, now),
        }) as unknown as PinStore;
      const bench = house({ pins: shared }).ready(1, 2);

      const told = legOf(explain(bench, { headers: [KEY] })).pin;

      expect(told).toMatchObject({ held: false, store: 'redis', asks_store: true, after: 'written' });
    });
  });

  it('a request that never comes to routing has no leg', () => {
    expect(explain(house().ready(1), { body: { rid: 7 } })).toMatchObject({
      result: 'refused',
      reason: 'json_parse_error',
      refusal: { status: 400, code: 'json_parse_error' },
      branch: null,
      legs: [],
    });
  });

  it('Envoy goes on without a pick while nothing is known yet', () => {
    const bench = house();
    bench.announce(1);

    expect(explain(bench)).toMatchObject({ result: 'passed', reason: 'not_settled', refusal: null });
  });

  it('all are overloaded, and one is chosen all the same', () => {
    const bench = house({ routing: { shed: false } }).ready(1, 2);
    const { registry } = bench;
    registry.overloadJudged(new Map([1, 2].map((n) => [registry.instance(urlOf(n))!, true])));

    const explanation = explain(bench);

    expect(explanation).toMatchObject({ result: 'placed', legs: [{ past_veto: true }] });
    expect(rowOf(explanation, 1)).toMatchObject({ place: 0, eligible: false, why_not: ['overloaded'] });
  });

  it('policies 4 a split request has two legs, and no prefill is sent', () => {
    const dispatch = new Dispatch();
    dispatch.atOnce = HANDOFF;
    const bench = house({ pair: { dispatch, prefill: 'passthrough', decode: 'round_robin' } });
    for (const n of [1, 2]) bench.add(n, { worker_type: 'prefill', runtime_type: n === 1 ? 'sglang' : 'vllm' });
    for (const n of [3, 4]) bench.add(n, { worker_type: 'decode', runtime_type: 'vllm' });
    bench.registry.markSettled();

    const explanation = explain(bench, { body: { rid: 'conv' } });

    expect(dispatch.starts).toEqual([]);
    expect(explanation).toMatchObject({
      result: 'placed',
      worker_id: urlOf(3),
      body: { read: true },
      legs: [
        {
          leg: 'prefill',
          policy: 'passthrough',
          worker_id: urlOf(2),
          pin: { after: 'written' },
          workers: [
            { worker_id: urlOf(1), eligible: false, why_not: ['does_not_fit'] },
            { worker_id: urlOf(2), eligible: true, place: 0 },
          ],
        },
        { leg: 'decode', policy: 'round_robin', worker_id: urlOf(3), workers: [{ place: 0 }, { place: 1 }] },
      ],
    });
  });
});
