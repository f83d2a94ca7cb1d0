import { beforeEach, describe, expect, it } from 'vitest';
import { endOf, PickerBench, urlOf } from '../../test/support/picker-bench.ts';

let bench: PickerBench;
beforeEach(() => {
  bench = new PickerBench().ready(1, 2);
});

const counts = (n: number) => {
  const { successes, failures } = bench.registry.instance(urlOf(n))!.breaker;
  return [successes, failures];
};
const failed = (n: number, status = 500) =>
  bench.ends.attemptFailed({ workerId: urlOf(n), address: '', rank: null, status, broken: false });

describe('each attempt counts once', () => {
  it('a request that the first worker answered', () => {
    bench.end(bench.pick(null).pickId, 1);
    expect([counts(1), counts(2)]).toEqual([
      [1, 0],
      [0, 0],
    ]);
  });

  it('a retried request: each attempt on its own worker', () => {
    const { pickId } = bench.pick(null);
    failed(1);
    bench.end(pickId, 2, { attempts: 2 });
    expect([counts(1), counts(2)]).toEqual([
      [0, 1],
      [1, 0],
    ]);
  });

  it('a request whose last attempt failed, too', () => {
    const { pickId } = bench.pick(null);
    failed(1);
    failed(2);
    bench.end(pickId, 2, { attempts: 2, status: 500, retriesUsedUp: true });
    expect([counts(1), counts(2)]).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  it('of an Envoy that logs no attempts, the last one', () => {
    bench.end(bench.pick(null).pickId, 2, { attempts: 2, status: 500, attemptsLogged: false });
    expect([counts(1), counts(2)]).toEqual([
      [0, 0],
      [0, 1],
    ]);
  });

  it('a long answer with its first sign of life, not again at its end', () => {
    const { pickId } = bench.pick(null);
    bench.ends.alive(pickId, urlOf(1), '', 0, bench.now);
    expect(counts(1)).toEqual([0, 0]);
    bench.ends.alive(pickId, urlOf(1), '', 200, bench.now);
    bench.ends.alive(pickId, urlOf(1), '', 200, bench.now);
    expect(counts(1)).toEqual([1, 0]);

    bench.end(pickId, 1);
    expect(counts(1)).toEqual([1, 0]);
  });

  it("signs of life of another replica's picks wait for the end", () => {
    bench.ends.alive('other-1', urlOf(1), '', 200, bench.now);
    bench.end('other-1', 1);
    expect(counts(1)).toEqual([1, 0]);
  });

  it('response headers that pass by; a log entry that follows counts no more', () => {
    const { pickId } = bench.pick(null);
    bench.breakers.answered(pickId, '10.0.0.1:8000', 503, 'via_upstream', []);
    bench.end(pickId, 1, { status: 503, attemptsLogged: false });
    expect(counts(1)).toEqual([0, 1]);
  });

  it('response headers of a request that the log has ended already', () => {
    const { pickId } = bench.pick(null);
    bench.end(pickId, 1);
    bench.breakers.answered(pickId, '10.0.0.1:8000', 200, 'via_upstream', []);
    expect(counts(1)).toEqual([1, 0]);
  });

  it('response headers with 429 are no word, and neither is the entry that follows', () => {
    const { pickId } = bench.pick(null);
    bench.breakers.answered(pickId, '10.0.0.1:8000', 429, null, []);
    bench.end(pickId, 1, { status: 429, attemptsLogged: false });
    expect(counts(1)).toEqual([0, 0]);
  });
});

describe('whose attempt it was', () => {
  it('is known by the id, else by the address', () => {
    bench.ends.attemptFailed({ workerId: urlOf(1), address: '10.0.0.2:8000', rank: null, status: 500, broken: false });
    bench.ends.attemptFailed({ workerId: '', address: '10.0.0.2:8000', rank: null, status: 0, broken: true });
    expect([counts(1), counts(2)]).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  it('a worker that left, or of another cluster, is nobody', () => {
    bench.ends.attemptFailed({
      workerId: 'http://gone:1',
      address: '10.9.9.9:1',
      rank: null,
      status: 500,
      broken: false,
    });
    bench.end(bench.pick(null).pickId, 9);
    expect([counts(1), counts(2)]).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });
});

describe('data-parallel ranks, which Envoy knows as one engine', () => {
  const ENGINE = 'http://10.0.0.5:8000';
  const AT = '10.0.0.5:8000';
  const of = (rank: number) => {
    const { successes, failures } = bench.registry.instance(`${ENGINE}@${rank}`)!.breaker;
    return [successes, failures];
  };
  beforeEach(() => {
    bench = new PickerBench().engine(5, 3);
  });

  it.each([
    ['id and address', ENGINE, AT],
    ['the address', '', AT],
    ['the id', ENGINE, ''],
  ])('an answer counts for the rank that was picked, told by %s', (_, workerId, servedAddress) => {
    for (let i = 0; i < 4; i++) {
      const { pickId } = bench.pick(null);
      bench.end(pickId, 5, { workerId, servedAddress, rank: i % 3 });
    }
    expect([of(0), of(1), of(2)]).toEqual([
      [2, 0],
      [1, 0],
      [1, 0],
    ]);
  });

  it('for the one that the entry names where the pick was of another replica', () => {
    bench.ends.ended({ ...endOf('other-1', 5), workerId: ENGINE, rank: 2 }, bench.now);
    expect([of(0), of(1), of(2)]).toEqual([
      [0, 0],
      [0, 0],
      [1, 0],
    ]);
  });

  it('a running answer, and one that passes by, count for the rank that was picked', () => {
    bench.ends.alive(bench.pick(null).pickId, ENGINE, AT, 200, bench.now);
    bench.breakers.answered(bench.pick(null).pickId, AT, 500, 'via_upstream', []);
    expect([of(0), of(1), of(2)]).toEqual([
      [1, 0],
      [0, 1],
      [0, 0],
    ]);
  });

  it('a failed attempt counts for the rank that answered it, for all when nobody did', () => {
    bench.ends.attemptFailed({ workerId: ENGINE, address: AT, rank: 1, status: 503, broken: false });
    expect([of(0), of(1), of(2)]).toEqual([
      [0, 0],
      [0, 1],
      [0, 0],
    ]);
    bench.ends.attemptFailed({ workerId: ENGINE, address: AT, rank: null, status: 0, broken: true });
    expect([of(0), of(1), of(2)]).toEqual([
      [0, 1],
      [0, 2],
      [0, 1],
    ]);
  });
});

describe('sticky-sessions 3.4 and 3.5 a pin whose worker keeps failing', () => {
  it('leaves with occupied_miss once the breaker is open', () => {
    bench = new PickerBench({ keys: { override: true } }).ready(1, 2);
    for (let turn = 0; turn < 10; turn++) {
      const { pickId, destination } = bench.pick({ rid: 'conv' });
      expect(destination).toMatch(/^10\.0\.0\.1:/);
      failed(1);
      bench.end(pickId, 1, { status: 500 });
    }
    expect(bench.worker(1).breaker).toBe('open');

    expect(bench.pick({ rid: 'conv' }).destination).toBe('10.0.0.2:8000');
    expect(bench.metrics.manualBranches.cell('occupied_miss').value).toBe(1);
    expect(bench.metrics.logEntries.cell('attempt').value).toBe(10);
  });

  it('nobody is left: refused as unavailable', () => {
    for (const n of [1, 2]) for (let i = 0; i < 10; i++) failed(n);
    expect(bench.refusal(null).code).toBe('no_available_workers');
  });
});
