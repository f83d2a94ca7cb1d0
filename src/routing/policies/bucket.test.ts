import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../../test/support/fleet.ts';
import type { RequestParts } from '../../../test/support/routing.ts';
import { BUCKET_DEFAULTS } from '../policy-parameters.ts';
import { BucketPolicy } from './bucket.ts';
import { makePlacement, policySuite } from './policy.suite.ts';

const create = () => new BucketPolicy(BUCKET_DEFAULTS);

policySuite('bucket', create);

describe('policies 1.9 bucket', () => {
  const members = [1, 2, 3].map((n) => makeWorker(`w${n}`));
  const pick = (parts: RequestParts, policy = create()) => policy.pick(makePlacement(members, parts))?.id;

  it.each([
    { what: 'token ids', prompt: { tokens: new Uint32Array(1365) }, at: 'w2' },
    { what: 'characters', prompt: { text: 'x'.repeat(2730) }, at: 'w3' },
    { what: 'nothing', prompt: {}, at: 'w1' },
  ])('goes by the count of $what', ({ prompt, at }) => {
    expect(pick({ prompt })).toBe(at);
  });

  it('has ranges of each model', () => {
    const policy = create();
    const of = (model: string) => {
      const placement = makePlacement(members, { prompt: { text: 'x'.repeat(100) } });
      return policy.pick({ ...placement, pool: { ...placement.pool, model } })?.id;
    };

    expect([of('m'), of('n')]).toEqual(['w1', 'w1']);
    expect(of('m')).not.toBe('w1');
  });

  it('goes on to the worker with the least', () => {
    const policy = create();
    const long = makePlacement(members, { prompt: { text: 'x'.repeat(5000) } });
    const short = makePlacement(members, {});
    expect(policy.pick(long)?.id).toBe('w3');

    expect(policy.next({ ...short, random: () => 0.9 }, [members[0]!])?.id).toBe('w2');
  });
});
