import { expect, it } from 'vitest';
import { PickerBench, urlOf } from '../../test/support/picker-bench.ts';
import { keyHash } from '../telemetry/key-hash.ts';

it('is one line a decision at level debug, without the key itself', () => {
  const bench = new PickerBench({ logLevel: 'debug' }).ready(1);

  const { pickId } = bench.pick({ rid: 'alice-7_t1', model: 'm' });

  expect(bench.logged).toHaveLength(1);
  expect(JSON.parse(bench.logged[0]!)).toMatchObject({
    msg: 'placed',
    pickId,
    worker: urlOf(1),
    model: 'm',
    policy: 'round_robin',
    branch: 'vacant',
    source: 'rid',
    keyHash: keyHash('alice-7'),
  });
  expect(bench.logged[0]).not.toContain('alice');
});

it('has no hash without a key, and no line at a higher level', () => {
  const chatty = new PickerBench({ logLevel: 'debug' }).ready(1);
  const quiet = new PickerBench({ logLevel: 'info' }).ready(1);

  chatty.pick(null);
  quiet.pick({ rid: 'alice-7_t1' });

  expect(JSON.parse(chatty.logged[0]!)).toMatchObject({ branch: 'policy', source: 'none' });
  expect(chatty.logged[0]).not.toContain('keyHash');
  expect(quiet.logged).toEqual([]);
});
