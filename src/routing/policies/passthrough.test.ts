import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../../test/support/fleet.ts';
import { passthroughPolicy } from './passthrough.ts';
import { makePlacement, policySuite } from './policy.suite.ts';

policySuite('passthrough', () => passthroughPolicy);

describe('policies 1.3 passthrough', () => {
  it('takes the first eligible worker each time', () => {
    const members = [makeWorker('w0', { placeable: false }), makeWorker('w1'), makeWorker('w2')];

    for (let i = 0; i < 3; i++) expect(passthroughPolicy.pick(makePlacement(members))?.id).toBe('w1');
  });
});
