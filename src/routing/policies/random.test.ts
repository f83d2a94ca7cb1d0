import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../../test/support/fleet.ts';
import { makePlacement, policySuite } from './policy.suite.ts';
import { randomPolicy } from './random.ts';

policySuite('random', () => randomPolicy);

describe('policies 1.1 random', () => {
  it('draws w1 or w3 with equal chance when w2 is not eligible', () => {
    const members = [makeWorker('w1'), makeWorker('w2', { placeable: false }), makeWorker('w3')];
    const at = (draw: number) => randomPolicy.pick(makePlacement(members, {}, () => draw))?.id;

    expect([at(0), at(0.49), at(0.5), at(0.99)]).toEqual(['w1', 'w1', 'w3', 'w3']);
  });
});
