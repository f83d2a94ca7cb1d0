import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scriptedRandom } from '../../test/support/fleet.ts';
import { engineOf, makeReport, makeReporting, type Reported, report } from '../../test/support/load-report.ts';
import type { Worker } from '../workers/worker.ts';
import { ExpectedWait, secondsToWait } from './expected-wait.ts';
import { EXPECTED_WAIT_DEFAULTS, type ExpectedWaitParameters } from './policy-parameters.ts';

const NOBODY: readonly Worker[] = [];
const first = () => 0;
const last = () => 0.999;

function scorer(parameters: Partial<ExpectedWaitParameters> = {}): ExpectedWait {
  return new ExpectedWait({ ...EXPECTED_WAIT_DEFAULTS, ...parameters }, 'recent');
}

/** Ids in the order of rising scores. */
function order(wait: ExpectedWait, workers: readonly Worker[]): string {
  const taken: Worker[] = [];
  for (let next = wait.next(workers, taken, first); next !== null; next = wait.next(workers, taken, first)) {
    taken.push(next);
  }
  return taken.map((worker) => worker.id).join(' ');
}

function picks(wait: ExpectedWait, workers: readonly Worker[], count: number, random = first): string {
  return Array.from({ length: count }, () => wait.choose(workers, 0, random)?.id ?? 'none').join(' ');
}

describe('policies 1.5.1 score', () => {
  it.each([
    { what: 'tokens over throughput', fields: { waitingUncachedTokens: 8000, genThroughput: 100 }, score: 80 },
    { what: 'requests by their mean, without tokens', fields: { waitingRequests: 64 }, score: 32.768 },
    { what: 'requests below 0', fields: { waitingRequests: -3 }, score: 0 },
    { what: 'the default throughput, without one', fields: { waitingUncachedTokens: 10000 }, score: 5 },
    { what: 'the fullest cache', fields: { tokenUsage: 1 }, score: 149.85 },
    { what: 'a usage below 0', fields: { tokenUsage: -0.5 }, score: 0 },
    { what: 'credit', fields: { genThroughput: 100 }, credited: 1024, score: 10.24 },
  ])('counts $what', ({ fields, credited = 0, score }) => {
    expect(secondsToWait(makeReport(fields), credited, EXPECTED_WAIT_DEFAULTS)).toBeCloseTo(score, 9);
  });

  it.each([
    { given: { kvPressureWeight: Number.NaN }, as: { kvPressureWeight: 0.15 } },
    { given: { kvPressureWeight: -1 }, as: { kvPressureWeight: 0.15 } },
    { given: { meanPrefillTokens: 0 }, as: { meanPrefillTokens: 1 } },
    { given: { defaultThroughput: Number.POSITIVE_INFINITY }, as: { defaultThroughput: 2000 } },
    { given: { defaultThroughput: 0 }, as: { defaultThroughput: 2000 } },
  ])('takes $given as $as', ({ given, as }) => {
    // Where b comes among workers of known waits, and where a silent one does, tell the parameters in force.
    const shown = (parameters: Partial<ExpectedWaitParameters>) =>
      order(scorer(parameters), [
        makeReporting('full', { tokenUsage: 0.5 }),
        ...[0.0004, 0.0006, 0.14, 0.16, 0.5, 0.52].map((wait) =>
          makeReporting(String(wait), { waitingUncachedTokens: wait * 1e6, genThroughput: 1e6 }),
        ),
        makeReporting('queue', { waitingRequests: 1 }),
      ]);

    expect(shown(given)).toBe(shown(as));
    expect(shown(given)).not.toBe(shown({ kvPressureWeight: 3, meanPrefillTokens: 9, defaultThroughput: 7 }));
  });
});

describe('policies 1.5.4 worked examples', () => {
  const tokens = (count: number, throughput = 0): Reported => ({
    waitingUncachedTokens: count,
    genThroughput: throughput,
  });

  it.each<{ what: string; a: Reported; b: Reported; scores: [number, number]; parameters?: object; pick: string }>([
    { what: 'tokens', a: tokens(8000, 100), b: tokens(1000, 100), scores: [80, 10], pick: 'b' },
    { what: 'requests', a: { waitingRequests: 64 }, b: { waitingRequests: 6 }, scores: [32.768, 3.072], pick: 'b' },
    {
      what: 'tokens win over requests',
      a: { waitingUncachedTokens: 500, waitingRequests: 200 },
      b: tokens(8000),
      scores: [0.25, 4],
      pick: 'a',
    },
    { what: 'throughput', a: tokens(5000, 50), b: tokens(5000, 500), scores: [100, 10], pick: 'b' },
    { what: 'no throughput', a: tokens(10000), b: tokens(1000), scores: [5, 0.5], pick: 'b' },
    { what: 'usage', a: { tokenUsage: 0.5 }, b: { tokenUsage: 0.9 }, scores: [0.15, 1.35], pick: 'a' },
    { what: 'usage of 1', a: { tokenUsage: 1 }, b: { tokenUsage: 0.99 }, scores: [149.85, 14.85], pick: 'b' },
    {
      what: 'a weight of 2',
      a: { tokenUsage: 0.98 },
      b: {},
      scores: [98, 0],
      parameters: { kvPressureWeight: 2 },
      pick: 'b',
    },
  ])('$what: $scores, picks $pick', ({ a, b, scores, parameters, pick }) => {
    const all = { ...EXPECTED_WAIT_DEFAULTS, ...parameters };

    expect(secondsToWait(makeReport(a), 0, all)).toBeCloseTo(scores[0], 9);
    expect(secondsToWait(makeReport(b), 0, all)).toBeCloseTo(scores[1], 9);
    expect(picks(scorer(all), [makeReporting('a', a), makeReporting('b', b)], 1)).toBe(pick);
  });

  it.each([
    { a: tokens(4000, 100), score: 91.2 },
    { a: tokens(8000, 100), score: 131.2 },
  ])('scores a silent worker with load 5 beside $a as $score', ({ a, score }) => {
    const between = [score - 0.01, score + 0.01].map((wait) => makeReporting(String(wait), tokens(wait * 100, 100)));
    const workers = [makeReporting('b', null, 5), makeReporting('a', a), ...between];

    expect(order(scorer(), workers)).toBe(`a ${score - 0.01} b ${score + 0.01}`);
    expect(picks(scorer(), workers.slice(0, 2), 1)).toBe('a');
  });

  it('credits the tokens that are known', () => {
    const workers = [makeReporting('a', {}), makeReporting('b', { waitingUncachedTokens: 2048 })];
    const wait = scorer();

    expect(wait.choose(workers, 2100, first)?.id).toBe('a');
    expect(wait.choose(workers, 2100, first)?.id).toBe('b');
  });

  const waiting = (...counts: readonly number[]) =>
    counts.map((waitingRequests, i) => makeReporting('ab'.charAt(i), { waitingRequests }));

  it.each([
    { cap: 48, workers: waiting(64, 6), want: 'b' },
    { cap: 48, workers: waiting(64, 50), want: 'none' },
    { cap: 48, workers: waiting(48), want: 'none' },
    { cap: 48, workers: waiting(47), want: 'a' },
  ])('with a limit of $cap picks $want', ({ cap, workers, want }) => {
    expect(picks(scorer({ maxWaitingRequests: cap }), workers, 1)).toBe(want);
  });

  it('counts fewer waiting requests than none as none', () => {
    const wait = scorer({ maxWaitingRequests: 2 });

    expect(picks(wait, waiting(-5), 3)).toBe('a a none');
  });

  it('with a limit of 2 places four requests on two idle workers, and no fifth before the next poll', () => {
    const workers = waiting(0, 0);
    const wait = scorer({ maxWaitingRequests: 2 });

    expect(picks(wait, workers, 5)).toBe('a b a b none');
    expect(wait.next(workers, NOBODY, first)).toBeNull();

    report(workers[0]!);
    expect(picks(wait, workers, 3)).toBe('a a none');
  });

  it('is even between equals', () => {
    const workers = ['a', 'b', 'c', 'd'].map((id) => makeReporting(id, {}));
    const counts = new Map<string, number>();
    let seed = 7;
    const random = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    for (let i = 0; i < 4000; i++) {
      const id = scorer().choose(workers, 0, random)?.id ?? '';
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }

    expect([...counts.keys()].sort()).toEqual(['a', 'b', 'c', 'd']);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(120);
  });
});

describe('policies 1.5.2 missing reports', () => {
  it('is the shortest queue when nobody reports', () => {
    const workers = [5, 3, 4].map((requests, i) => makeReporting(`w${i}`, null, requests));

    expect(order(scorer(), workers)).toBe('w1 w2 w0');
  });

  it('puts a silent idle worker level with the best that reports', () => {
    const workers = [makeReporting('a', { waitingUncachedTokens: 4000 }), makeReporting('b', null)];

    expect(scorer().next(workers, NOBODY, first)?.id).toBe('a');
    expect(scorer().next(workers, NOBODY, last)?.id).toBe('b');
  });

  it('knows nothing of those that have reached their limit', () => {
    const workers = [
      makeReporting('full', { waitingRequests: 9 }),
      ...[2, 1].map((n) => makeReporting(`w${n}`, null, n)),
    ];

    expect(order(scorer({ maxWaitingRequests: 5 }), workers)).toBe('w1 w2');
  });

  it('puts a silent worker behind the best that has not reached its limit, by the throughput of those', () => {
    const workers = [
      makeReporting('best', { waitingUncachedTokens: 2000 }),
      makeReporting('full', { waitingRequests: 9, genThroughput: 1 }),
      makeReporting('silent', null, 1),
      makeReporting('next', { waitingUncachedTokens: 4000 }),
    ];

    expect(order(scorer({ maxWaitingRequests: 5 }), workers)).toBe('best silent next');
  });

  it('holds an old report until it is stale, or only that of the last poll', () => {
    const workers = [makeReporting('busy', { waitingRequests: 9 }), makeReporting('idle', {}, 1)];
    const seen = (view: 'current' | 'recent') => order(new ExpectedWait(EXPECTED_WAIT_DEFAULTS, view), workers);
    expect([seen('current'), seen('recent')]).toEqual(['idle busy', 'idle busy']);

    for (const worker of workers) engineOf(worker).missed();
    expect([seen('current'), seen('recent')]).toEqual(['busy idle', 'idle busy']);

    for (const worker of workers) engineOf(worker).expired();
    expect(seen('recent')).toBe('busy idle');
  });
});

describe('policies 1.5.3 credit', () => {
  it('spreads the requests between two polls', () => {
    const workers = ['a', 'b', 'c'].map((id) => makeReporting(id, {}));

    expect(picks(scorer(), workers, 6, scriptedRandom(0.9))).toBe('c b a c b a');
  });

  it('ends with the report of that worker alone', () => {
    const workers = [makeReporting('a', {}), makeReporting('b', {})];
    const wait = scorer();
    expect(picks(wait, workers, 2)).toBe('a b');

    report(workers[0]!);

    expect(picks(wait, workers, 3)).toBe('a a b');
  });

  it('is none for a single worker without a limit', () => {
    const workers = [makeReporting('a', {}), makeReporting('b', { waitingUncachedTokens: 1 })];
    const wait = scorer();
    picks(wait, workers.slice(0, 1), 5);

    expect(picks(wait, workers, 1)).toBe('a');
  });

  it('belongs to the instance, in whatever list and place it stands', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => makeReporting(id, {}));
    const wait = scorer();
    expect(picks(wait, [a!, b!], 1)).toBe('a');
    expect(picks(wait, [b!, c!], 1)).toBe('b');

    expect(order(wait, [b!, c!, a!]).split(' ')[0]).toBe('c');
    expect(order(wait, [{ ...c!, labels: { moved: 'yes' } }, a!])).toBe('c a');
    expect(order(wait, [a!, makeReporting('b', {})])).toBe('b a');
  });
});

describe('expected wait', () => {
  const number = fc.oneof(fc.double(), fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e308));
  const reported = fc.option(
    fc.record({
      waitingRequests: number,
      waitingUncachedTokens: number,
      genThroughput: number,
      tokenUsage: number,
    }),
  );
  const fleet = fc.array(fc.tuple(reported, fc.nat(9)), { minLength: 1, maxLength: 6 });
  const build = (states: readonly (readonly [Reported | null, number])[]) =>
    states.map(([fields, load], i) => makeReporting(`w${i}`, fields, load));

  it('is never negative and always a number', () => {
    fc.assert(
      fc.property(reported, fc.double({ min: 0, noNaN: true }), (fields, credited) => {
        expect(secondsToWait(makeReport(fields ?? {}), credited, EXPECTED_WAIT_DEFAULTS)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('finds somebody whatever the engines report', () => {
    fc.assert(
      fc.property(fleet, fc.array(fc.nat(10_000), { maxLength: 5 }), (states, lengths) => {
        const workers = build(states);
        const wait = scorer();
        for (const tokens of lengths) expect(workers).toContain(wait.choose(workers, tokens, Math.random));
        expect(order(wait, workers).split(' ')).toHaveLength(workers.length);
      }),
    );
  });

  it('never gives a worker more than its limit between two polls', () => {
    const counts = fc.array(fc.nat(6), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 5 }), fc.nat(40), (waiting, cap, requests) => {
        const workers = waiting.map((waitingRequests, i) => makeReporting(`w${i}`, { waitingRequests }));
        const wait = scorer({ maxWaitingRequests: cap });
        const given = new Map<string, number>();
        for (let i = 0; i < requests; i++) {
          const worker = wait.choose(workers, 0, Math.random);
          if (worker !== null) given.set(worker.id, (given.get(worker.id) ?? 0) + 1);
        }
        const room = waiting.map((count) => Math.max(0, cap - count));

        for (const [i, most] of room.entries()) expect(given.get(`w${i}`) ?? 0).toBeLessThanOrEqual(most);
        const placed = [...given.values()].reduce((sum, count) => sum + count, 0);
        expect(placed).toBe(
          Math.min(
            requests,
            room.reduce((sum, count) => sum + count, 0),
          ),
        );
      }),
    );
  });
});
