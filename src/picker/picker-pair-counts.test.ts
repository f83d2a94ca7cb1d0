import { describe, expect, it } from 'vitest';
import { deferred, HANDOFF, house, picked } from '../../test/support/pair-bench.ts';
import type { RequestEnd } from './request-end.ts';

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

  it.each<[string, Partial<RequestEnd>, number]>([
    ['was served leaves its prefill to end by itself', {}, 0],
    ['failed ends its prefill', { status: 400 }, 1],
    ['broke off ends its prefill', { codeDetails: 'upstream_reset_after_response_started{connection_termination}' }, 1],
    ['was left by its client ends its prefill', { clientGone: true }, 1],
  ])('a decode that %s', async (_, end, cancelled) => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({}));
    await dispatch.last.give(HANDOFF);
    bench.end(picked(await answer.answer).pickId, 3, end);
    expect([loads(), dispatch.last.cancelled]).toEqual(['0000', cancelled]);

    await dispatch.last.end('success');
    expect(loads()).toBe('0000');
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

  it('a failure of ours at the end of a prefill is told, and fails nothing else', async () => {
    const { bench, dispatch, loads } = house();
    const answer = deferred(bench.ask({}));
    bench.registry.attempted = () => {
      throw new Error('bug');
    };
    await dispatch.last.over(HANDOFF, 'success');
    expect([(await answer.answer).kind, bench.failures.length, loads()]).toEqual(['pick', 1, '0010']);
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
