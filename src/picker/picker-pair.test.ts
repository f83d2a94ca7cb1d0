import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { FACTS, PickerBench, type PickerBenchOptions, urlOf } from '../../test/support/picker-bench.ts';
import type { Outcome } from '../workers/breaker.ts';
import type { Answer, DeferredAnswer, FinalAnswer, PickAnswer } from './answer.ts';
import type { Handoff, PrefillDispatch, PrefillFailure, PrefillOrder, PrefillRun } from './prefill-dispatch.ts';

const HANDOFF: Handoff = { kind: 'handoff', body: Buffer.from('{"kv":1}'), leftTo: null };
const failed = (status: number): PrefillFailure => ({
  kind: 'failed',
  status,
  code: 'prefill_upstream_error',
  message: 'of the engine',
});

/** A prefill under way, driven by hand. */
class Prefill implements PrefillRun {
  readonly timeoutMs = 60_000;
  readonly order: PrefillOrder;
  cancelled = 0;
  readonly handoff: Promise<Handoff | PrefillFailure>;
  readonly done: Promise<Outcome | null>;
  #give!: (taken: Handoff | PrefillFailure) => void;
  #end!: (outcome: Outcome | null) => void;

  constructor(order: PrefillOrder) {
    this.order = order;
    this.handoff = new Promise((resolve) => {
      this.#give = resolve;
    });
    this.done = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  cancel(): void {
    this.cancelled += 1;
    this.#give(failed(502));
    this.#end(null);
  }

  async give(taken: Handoff | PrefillFailure): Promise<void> {
    this.#give(taken);
    await tick();
  }

  async end(outcome: Outcome | null): Promise<void> {
    this.#end(outcome);
    await tick();
  }

  /** The usual sequential prefill: over, then its decode begins. */
  async over(taken: Handoff | PrefillFailure, outcome: Outcome | null): Promise<void> {
    await this.end(outcome);
    await this.give(taken);
  }
}

class Dispatch implements PrefillDispatch {
  readonly prefills: Prefill[] = [];
  /** What is given at once instead. */
  atOnce: Handoff | PrefillFailure | null = null;
  orders: PrefillOrder[] = [];

  start(order: PrefillOrder): Handoff | PrefillFailure | PrefillRun {
    this.orders.push(order);
    if (this.atOnce !== null) return this.atOnce;
    const prefill = new Prefill(order);
    this.prefills.push(prefill);
    return prefill;
  }

  get last(): Prefill {
    return this.prefills.at(-1)!;
  }
}

/** Prefill workers 1 and 2, decode workers 3 and 4. */
function house(options: PickerBenchOptions = {}, { pair = {} }: { pair?: object } = {}) {
  const dispatch = new Dispatch();
  const bench = new PickerBench({ ...options, pair: { dispatch, ...pair } });
  for (const n of [1, 2]) bench.add(n, { worker_type: 'prefill', runtime_type: 'vllm' });
  for (const n of [3, 4]) bench.add(n, { worker_type: 'decode', runtime_type: 'vllm' });
  bench.registry.markSettled();
  const loads = () => [1, 2, 3, 4].map((n) => bench.worker(n).load.requests).join('');
  return { bench, dispatch, loads };
}

function deferred(answer: Answer | Promise<Answer>): DeferredAnswer {
  if (answer instanceof Promise || answer.kind !== 'deferred')
    throw new Error(`not deferred: ${JSON.stringify(answer)}`);
  return answer;
}

function picked(answer: FinalAnswer): PickAnswer {
  if (answer.kind !== 'pick') throw new Error(`no pick: ${JSON.stringify(answer)}`);
  return answer;
}

const at = (n: number) => `10.0.0.${n}:8000`;
const retries = (bench: PickerBench, leg: 'prefill' | 'decode') => bench.metrics.workerRetries.cell(leg, 'chat').value;

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

describe('policies 2.5 and sticky-sessions 3.10: one unit on each leg', () => {
  it('both count from the decision on; the prefill until it is over', async () => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({}));
    expect(loads()).toBe('1010');
    await dispatch.last.end('success');
    expect(loads()).toBe('0010');
    await dispatch.last.give(HANDOFF);
    bench.end(picked(await answer.answer).pickId, 3);
    expect([loads(), bench.ledger.inFlight]).toEqual(['0000', 0]);
  });

  it('a parallel prefill counts beside its decode, and ends with it at the latest', async () => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({}));
    await dispatch.last.give(HANDOFF);
    const { pickId } = picked(await answer.answer);
    expect(loads()).toBe('1010');
    bench.feedback.streamEnded(pickId);
    expect([loads(), dispatch.last.cancelled]).toEqual(['0000', 1]);
  });

  it('a prefill that a sidecar sends counts until the decode ends', () => {
    const { bench, dispatch, loads } = house();
    dispatch.atOnce = { ...HANDOFF, leftTo: 'sidecar' };
    const pick = bench.pick({});
    expect(loads()).toBe('1010');
    bench.end(pick.pickId, 3);
    expect(loads()).toBe('0000');
  });

  it('where nobody prefills, only the decode worker counts', () => {
    const { bench, dispatch, loads } = house();
    dispatch.atOnce = { ...HANDOFF, body: null };
    bench.pick({});
    expect(loads()).toBe('0010');
  });

  it('an answer that never reached Envoy leaves nothing behind', async () => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({}));
    await dispatch.last.give(HANDOFF);
    bench.picker.abandon(picked(await answer.answer).pickId);
    expect([loads(), dispatch.last.cancelled]).toEqual(['0000', 1]);
  });

  it('a client that leaves ends the prefill', async () => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({}));
    answer.cancel();
    expect([loads(), dispatch.last.cancelled, bench.ledger.inFlight]).toEqual(['0000', 1, 0]);
    expect(await answer.answer).toEqual({ kind: 'pass' });
    expect(dispatch.orders).toHaveLength(1);
  });

  it('also when its prefill was over a moment ago', async () => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({}));
    void dispatch.last.give(HANDOFF);
    answer.cancel();
    await answer.answer;
    expect([loads(), bench.ledger.inFlight]).toEqual(['0000', 0]);
  });

  it('log entries are promised only from the dispatch on', async () => {
    const { bench, dispatch, loads } = house();
    const streams = { logStreams: 1, lastLogStreamClosedAt: null };
    const answer = deferred(bench.ask({}));
    bench.ledger.sweep(1000, streams);
    bench.now += 50_000;
    bench.ledger.sweep(bench.now, streams);
    expect(loads()).toBe('1010');
    await dispatch.last.over(HANDOFF, 'success');
    await answer.answer;
    bench.now += 30_000;
    bench.ledger.sweep(bench.now, streams);
    expect(loads()).toBe('0000');
  });
});

describe('decisions 7: log streams that are gone', () => {
  it('say nothing of a prefill under way', async () => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({}));
    const streams = { logStreams: 0, lastLogStreamClosedAt: bench.now + 1 };
    bench.now += 100_000;
    bench.ledger.sweep(bench.now, streams);
    expect([loads(), dispatch.last.cancelled]).toEqual(['1010', 0]);

    await dispatch.last.over(HANDOFF, 'success');
    expect((await answer.answer).kind).toBe('pick');
    bench.now += 30_001;
    bench.ledger.sweep(bench.now, { logStreams: 0, lastLogStreamClosedAt: bench.now - 30_001 });
    expect(loads()).toBe('0000');
  });
});

describe('policies 5: a prefill that fails', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  const goOn = async () => {
    await vi.advanceTimersByTimeAsync(1);
    await tick();
  };

  it('is tried at another worker, with its decode leg chosen anew', async () => {
    const { bench, dispatch, loads } = house({ keys: { override: true } });
    const answer = deferred(bench.ask({ rid: 'a' }));
    await dispatch.last.over(failed(500), 'failure');
    expect(loads()).toBe('0000');
    await goOn();
    expect([dispatch.last.order.prefill.id, dispatch.last.order.decode.id]).toEqual([urlOf(2), urlOf(3)]);
    expect(loads()).toBe('0110');
    await dispatch.last.over(HANDOFF, 'success');

    expect((await answer.answer).kind).toBe('pick');
    expect(bench.local.peek('7:unknown:p:a')?.candidates).toEqual([urlOf(2), urlOf(1)]);
    expect(bench.local.peek('7:unknown:d:a')?.candidates).toEqual([urlOf(3)]);
    expect([retries(bench, 'prefill'), retries(bench, 'decode')]).toEqual([1, 1]);
    const selected = (leg: 'prefill' | 'decode') =>
      bench.metrics.workerSelections.cell(leg, 'http', 'unknown', 'round_robin').value;
    expect([selected('prefill'), selected('decode')]).toEqual([2, 2]);
    expect(bench.metrics.workerErrors.cell('prefill', 'http', 'backend_error').value).toBe(1);
  });

  it('is tried at the same one again when there is no other, until the tries are used up', async () => {
    const { bench, dispatch, loads } = house({
      config: { prefillRetry: { mostTries: 3, initialMs: 1, maxMs: 1, multiplier: 1, jitter: 0 } },
    });
    bench.down(2);
    const answer = deferred(bench.ask({}));
    for (let n = 1; n <= 3; n++) {
      expect(dispatch.orders).toHaveLength(n);
      expect(dispatch.last.order.prefill.id).toBe(urlOf(1));
      await dispatch.last.over(failed(503), 'failure');
      await goOn();
    }
    expect(await answer.answer).toMatchObject({ kind: 'refusal', status: 503, code: 'prefill_upstream_error' });
    expect([loads(), dispatch.orders.length]).toEqual(['0000', 3]);
    expect(bench.metrics.workerRetriesExhausted.cell('prefill', 'chat').value).toBe(1);
    expect(bench.metrics.refusals.cell('prefill_upstream_error').value).toBe(1);
    expect(bench.metrics.routerRequestErrors.cell('http', 'pd', 'http', 'unknown', 'chat', 'backend_error').value).toBe(
      1,
    );
  });

  it.each([400, 401, 404, 413, 422, 501])('status %i is the last word', async (status) => {
    const { bench, dispatch } = house();
    const answer = deferred(bench.ask({}));
    await dispatch.last.over(failed(status), 'success');
    expect(await answer.answer).toMatchObject({ kind: 'refusal', status, message: 'of the engine' });
    expect(dispatch.orders).toHaveLength(1);
  });

  it.each([408, 429, 500, 502, 503, 504])('status %i is tried again', async (status) => {
    const { bench, dispatch } = house();
    const answer = deferred(bench.ask({}));
    await dispatch.last.over(failed(status), null);
    await goOn();
    expect(dispatch.orders).toHaveLength(2);
    answer.cancel();
  });

  it('with retries off the first failure is the last word', async () => {
    const { bench, dispatch } = house({
      config: { prefillRetry: { mostTries: 1, initialMs: 1, maxMs: 1, multiplier: 1, jitter: 0 } },
    });
    const answer = deferred(bench.ask({}));
    await dispatch.last.over(failed(502), 'failure');
    expect(await answer.answer).toMatchObject({ kind: 'refusal', status: 502 });
  });

  it('a strict target is not tried elsewhere', async () => {
    const { bench, dispatch } = house({ policy: 'consistent_hashing' });
    const answer = deferred(bench.ask({}, { headers: [['x-smg-target-worker', '1']] }));
    expect(dispatch.last.order.prefill.id).toBe(urlOf(2));
    await dispatch.last.over(failed(500), 'failure');
    expect(await answer.answer).toMatchObject({ kind: 'refusal', status: 500 });
  });

  it('that nobody can help is refused at once', () => {
    const { bench, dispatch, loads } = house();
    dispatch.atOnce = failed(413);
    expect(bench.ask({})).toMatchObject({ kind: 'refusal', status: 413 });
    expect(loads()).toBe('0000');
  });

  it('all tries together have the time of the first', async () => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({}));
    bench.now += 59_999;
    await dispatch.last.over(failed(500), 'failure');
    await goOn();
    expect(dispatch.orders).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(60_200);
    expect(await answer.answer).toMatchObject({ kind: 'refusal', status: 504, code: 'prefill_request_failed' });
    expect([loads(), dispatch.last.cancelled]).toEqual(['0000', 1]);
    const errors = (label: 'timeout' | 'backend_error') => bench.metrics.workerErrors.cell('prefill', 'http', label);
    expect([errors('backend_error').value, errors('timeout').value]).toEqual([1, 1]);
  });

  it('is not tried again when the time is over', async () => {
    const { bench, dispatch } = house();
    const answer = deferred(bench.ask({}));
    bench.now += 60_000;
    await dispatch.last.over(failed(504), 'failure');
    expect(await answer.answer).toMatchObject({ kind: 'refusal', status: 504 });
    expect(dispatch.orders).toHaveLength(1);
  });

  it('a client that leaves during a pause ends it', async () => {
    const { bench, dispatch } = house();
    const answer = deferred(bench.ask({}));
    await dispatch.last.over(failed(500), 'failure');
    answer.cancel();
    await goOn();
    expect(dispatch.orders).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a failure of ours lets the request pass', async () => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({}));
    dispatch.start = () => {
      throw new Error('bug');
    };
    await dispatch.last.over(failed(500), 'failure');
    await goOn();
    expect(await answer.answer).toEqual({ kind: 'pass' });
    expect([bench.failures.length, bench.metrics.passes.cell('internal_error').value]).toEqual([1, 1]);
    expect([loads(), bench.ledger.inFlight]).toEqual(['0000', 0]);
  });

  it('also at the first try', () => {
    const { bench, dispatch, loads } = house();
    dispatch.start = () => {
      throw new Error('bug');
    };
    expect(bench.ask({})).toEqual({ kind: 'pass' });
    expect([loads(), bench.ledger.inFlight, bench.failures.length]).toEqual(['0000', 0, 1]);
  });
});

describe('policies 4.4: the outcome of a prefill', () => {
  it('feeds the breaker of its worker, never that of the decode worker', async () => {
    const { bench, dispatch } = house({
      config: { prefillRetry: { mostTries: 1, initialMs: 0, maxMs: 0, multiplier: 1, jitter: 0 } },
    });
    bench.down(2);
    for (let n = 0; n < 10; n++) {
      const answer = deferred(bench.ask({}));
      await dispatch.last.over(failed(500), 'failure');
      await answer.answer;
    }
    expect([bench.worker(1).breaker, bench.worker(3).breaker, bench.worker(4).breaker]).toEqual([
      'open',
      'closed',
      'closed',
    ]);
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
