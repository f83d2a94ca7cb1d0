import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonLoads } from './read-json-loads.ts';

const read = (answer: unknown) => readJsonLoads(JSON.stringify(answer), 7);

describe('policies 3.3 report shape', () => {
  it('reads every member of a rank', () => {
    const rank = {
      dp_rank: 1,
      num_running_reqs: 2,
      num_waiting_reqs: 3,
      num_waiting_uncached_tokens: 4,
      num_total_reqs: 5,
      num_used_tokens: 6,
      max_total_num_tokens: 7,
      token_usage: 0.8,
      gen_throughput: 9.5,
      cache_hit_rate: 0.1,
      utilization: 0.11,
      max_running_requests: 12,
    };

    expect(read({ timestamp: 't', version: 'v', dp_rank_count: 1, loads: [rank], aggregate: {} })).toEqual({
      at: 7,
      ranks: [
        {
          rank: 1,
          runningRequests: 2,
          waitingRequests: 3,
          waitingUncachedTokens: 4,
          totalRequests: 5,
          usedTokens: 6,
          maxTokens: 7,
          tokenUsage: 0.8,
          genThroughput: 9.5,
          cacheHitRate: 0.1,
          utilization: 0.11,
          maxRunningRequests: 12,
          transfer: null,
        },
      ],
      runningRequests: 2,
      waitingRequests: 3,
      waitingUncachedTokens: 4,
      genThroughput: 9.5,
      tokenUsage: 0.8,
    });
  });

  it('sums waiting, tokens and throughput over ranks, and means the usage', () => {
    const rank = (n: number) => ({
      dp_rank: n,
      num_running_reqs: n,
      num_waiting_reqs: 10 * n,
      num_waiting_uncached_tokens: 100 * n,
      gen_throughput: 1000 * n,
      token_usage: n / 10,
    });

    expect(read({ loads: [rank(1), rank(2), rank(6)] })).toMatchObject({
      runningRequests: 9,
      waitingRequests: 90,
      waitingUncachedTokens: 900,
      genThroughput: 9000,
      tokenUsage: expect.closeTo(0.3, 12),
    });
  });

  it('reads what a prefill or decode engine tells of its transfers', () => {
    const rank = {
      disagg_mode: 'prefill',
      kv_transfer_latency_ms: 5.5,
      prefill_queue_reqs: 3,
      decode_queue_reqs: null,
    };

    expect(read({ loads: [rank] })).toMatchObject({
      ranks: [
        {
          transfer: {
            role: 'prefill',
            kvLatencyMs: 5.5,
            kvSpeedGbPerSecond: null,
            prefillQueueRequests: 3,
            decodeQueueRequests: null,
          },
        },
      ],
    });
  });
});

describe('policies 3.2 answers as SMG 1.11.0 takes them', () => {
  it.each([
    { answer: { loads: [{}] }, taken: 'report' },
    { answer: { loads: [{ num_waiting_reqs: -3, token_usage: 1.5 }] }, taken: 'report' },
    { answer: { loads: [{ num_running_reqs: 1 }], aggregate: { total_waiting_reqs: 9 } }, taken: 'report' },
    { answer: { loads: [] }, taken: 'empty' },
    { answer: { hello: 1 }, taken: 'empty' },
    { answer: { dp_rank: 0, num_waiting_reqs: 3, token_usage: 0.5 }, taken: 'empty' },
    { answer: { loads: [{ num_waiting_reqs: 2.5 }] }, taken: 'foreign' },
    { answer: { loads: [{ num_waiting_reqs: '2' }] }, taken: 'foreign' },
    { answer: { loads: [{ num_waiting_reqs: null }] }, taken: 'foreign' },
    { answer: { loads: [{}, 5] }, taken: 'foreign' },
    { answer: { loads: 5 }, taken: 'foreign' },
    { answer: [{ dp_rank: 0, num_reqs: 7 }], taken: 'foreign' },
    { answer: 'hello', taken: 'foreign' },
    { answer: null, taken: 'foreign' },
  ])('$answer: $taken', ({ answer, taken }) => {
    const loads = read(answer);

    expect(typeof loads === 'string' ? loads : 'report').toBe(taken);
  });

  it('takes text that is no JSON, or a number beyond any load, as foreign', () => {
    const texts = ['', '<html>', '{"loads":[{"token_usage":1e999}]}', '{"loads":[{"num_waiting_reqs":1e300}]}'];

    expect(texts.map((text) => readJsonLoads(text, 0))).toEqual(texts.map(() => 'foreign'));
  });

  it('takes more ranks than an engine can have as foreign, since each would become series of metrics', () => {
    const ranks = (count: number) => read({ loads: Array.from({ length: count }, () => ({})) });

    expect(ranks(4096)).toMatchObject({ tokenUsage: 0 });
    expect(ranks(4097)).toBe('foreign');
  });

  it('never throws, and tells finite numbers only, whatever stands in the answer', () => {
    const member = fc.oneof(fc.double(), fc.integer(), fc.jsonValue());
    const rank = fc.record(
      {
        dp_rank: member,
        num_waiting_reqs: member,
        num_waiting_uncached_tokens: member,
        token_usage: member,
        gen_throughput: member,
        kv_transfer_latency_ms: member,
      },
      { requiredKeys: [] },
    );
    const answer = fc.oneof(fc.record({ loads: fc.array(rank) }), fc.jsonValue());

    fc.assert(
      fc.property(answer, (value) => {
        const loads = read(value);

        if (typeof loads === 'string') return true;
        const { ranks: _, ...aggregates } = loads;
        return Object.values(aggregates).every(Number.isFinite);
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => readJsonLoads(text, 0) !== undefined));
  });
});
