import { describe, expect, it } from 'vitest';
import { makeReporting } from '../../../test/support/load-report.ts';
import type { Worker } from '../../workers/worker.ts';
import { makePlacement } from '../policies/policy.suite.ts';
import { CACHE_AWARE_DEFAULTS, type CacheAwareParameters } from '../policy-parameters.ts';
import { Affinity } from './affinity.ts';

function affinity(parameters: Partial<CacheAwareParameters> = {}): Affinity {
  return new Affinity({ ...CACHE_AWARE_DEFAULTS, ...parameters });
}

function idle(count: number): readonly Worker[] {
  return Array.from({ length: count }, (_, i) => makeReporting(`w${i}`, null));
}

describe('policies 1.6.4 in whole', () => {
  it('leaves a holder with a backlog for one without: 10 blocks, 320 tokens waiting', () => {
    const workers = [
      makeReporting('w0', { waitingUncachedTokens: 320, genThroughput: 1e9 }),
      makeReporting('w1', { waitingUncachedTokens: 0, genThroughput: 1e9, tokenUsage: 0.9 }),
    ];
    const choice = (chooser: Affinity) => chooser.chooseNear(makePlacement(workers), workers, 160);

    expect(choice(affinity())).toBe(workers[0]);
    expect(choice(affinity({ overlapDecay: 1 }))).toBe(workers[1]);
  });

  it('a request shorter than a block counts as one', () => {
    const workers = [
      makeReporting('w0', { waitingUncachedTokens: 16, genThroughput: 1e9 }),
      makeReporting('w1', { waitingUncachedTokens: 0, genThroughput: 1e9, tokenUsage: 0.9 }),
    ];

    expect(affinity({ overlapDecay: 1 }).chooseNear(makePlacement(workers), workers, 3)).toBe(workers[1]);
    expect(affinity().chooseNear(makePlacement(workers), workers, 3)).toBe(workers[0]);
  });

  it('credits the winner also when nobody else was in question', () => {
    const workers = [makeReporting('w0', {}), makeReporting('w1', {})];
    const chooser = affinity();
    for (let i = 0; i < 3; i++) chooser.chooseNear(makePlacement(workers), [workers[0]!], 10);

    const others = Array.from({ length: 3 }, () => chooser.chooseAny(makePlacement(workers))?.id);

    expect(others).toEqual(['w1', 'w1', 'w1']);
  });

  it('credits the tokens of the request where they are known', () => {
    const workers = [makeReporting('w0', {}), makeReporting('w1', {})];
    const chooser = affinity();
    const tokens = makePlacement(workers, { prompt: { tokens: new Uint32Array(3000) } });
    chooser.chooseNear(tokens, [workers[0]!], 3000);

    const others = Array.from({ length: 3 }, () => chooser.chooseAny(makePlacement(workers))?.id);

    expect(others).toEqual(['w1', 'w1', 'w1']);
  });

  it('counts reports of the last poll only', () => {
    const workers = [makeReporting('w0', { waitingRequests: 50 }, 0), makeReporting('w1', null, 3)];
    const gone = workers.map((worker) => ({ ...worker, engine: { ...worker.engine, current: null, reports: 1 } }));

    expect(affinity().chooseAny(makePlacement(gone))?.id).toBe('w0');
  });
});

describe('where Envoy goes on', () => {
  const order = (chooser: Affinity, placement: ReturnType<typeof makePlacement>, first: Worker): string => {
    const taken = [first];
    for (let next = chooser.next(placement, taken); next !== null; next = chooser.next(placement, taken)) {
      taken.push(next);
    }
    return taken.map(({ id }) => id).join(' ');
  };

  it('first to the other holders, those that are hot after all the others', () => {
    const workers = [...idle(4), makeReporting('hot', null, 200)];
    const [w0, , , w3, hot] = workers;
    const placement = makePlacement(workers);
    const chooser = affinity();
    const chosen = chooser.chooseNear(placement, [hot!, w3!, w0!], 10)!;

    expect([chosen.id, order(chooser, placement, chosen)]).toEqual(['w3', 'w3 w0 w1 w2 hot']);
  });

  it('by rank among the other holders where backlogs count', () => {
    const workers = [
      makeReporting('w0', { waitingUncachedTokens: 640, genThroughput: 1e9 }),
      makeReporting('w1', { waitingUncachedTokens: 320, genThroughput: 1e9, tokenUsage: 0.9 }),
      makeReporting('w2', { waitingUncachedTokens: 0, genThroughput: 1e9, tokenUsage: 0.95 }),
    ];
    const placement = makePlacement(workers);
    const chooser = affinity({ overlapDecay: 1 });

    expect(order(chooser, placement, chooser.chooseNear(placement, workers, 160)!)).toBe('w2 w1 w0');
  });

  it('to nobody who is no candidate, also when the last choice had others', () => {
    const workers = [makeReporting('w0', null, 1), makeReporting('w1', null, 3), makeReporting('w2', null, 2)];
    const placement = makePlacement(workers);
    const chooser = affinity();
    chooser.chooseNear(placement, [workers[1]!], 10);

    const fewer = { ...placement, candidates: [workers[0]!, workers[2]!] };

    expect(order(chooser, fewer, workers[0]!)).toBe('w0 w2');
  });

  it('by load alone when the last choice was for another request', () => {
    const workers = [makeReporting('w0', null, 2), makeReporting('w1', null, 1), makeReporting('w2', null, 3)];
    const chooser = affinity();
    chooser.chooseNear(makePlacement(workers), [workers[2]!], 10);

    expect(order(chooser, makePlacement(workers), workers[0]!)).toBe('w0 w1 w2');
  });
});
