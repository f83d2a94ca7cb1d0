import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred, failed, HANDOFF, house } from '../../test/support/pair-bench.ts';
import { type PickerBench, urlOf } from '../../test/support/picker-bench.ts';

const retries = (bench: PickerBench, leg: 'prefill' | 'decode') => bench.metrics.workerRetries.cell(leg, 'chat').value;

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

  it.each([1, 2, 3])('leaves the pins as they were when each of %i tries failed', async (mostTries) => {
    const { bench, dispatch } = house({
      keys: { override: true },
      config: { prefillRetry: { mostTries, initialMs: 1, maxMs: 1, multiplier: 1, jitter: 0 } },
    });
    const first = deferred(bench.ask({ rid: 'a' }));
    await dispatch.last.over(HANDOFF, 'success');
    await first.answer;
    const answer = deferred(bench.ask({ rid: 'a' }));
    for (let n = 0; n < mostTries; n++) {
      await dispatch.last.over(failed(500), 'failure');
      await goOn();
    }
    expect(await answer.answer).toMatchObject({ kind: 'refusal', status: 500 });
    expect(dispatch.orders).toHaveLength(1 + mostTries);
    expect(bench.local.peek('7:unknown:p:a')?.candidates).toEqual([urlOf(1)]);
    expect(bench.local.peek('7:unknown:d:a')?.candidates).toEqual([urlOf(3)]);
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
