import { describe, expect, it } from 'vitest';
import { load } from '../../test/support/try-load.ts';
import { wantsBodies } from './authz-body.ts';

const wants = (flags: string, file?: string) => wantsBodies(load(file === undefined ? { flags } : { flags, file }));

describe('sticky-sessions 4.2: whether settings want bodies', () => {
  it.each([
    ['', true], // cache_aware reads prompts
    ['--policy cache_aware --routing-key-order header-only', true],
    ['--policy prefix_hash --routing-key-order header-only', true],
    ['--policy bucket --routing-key-order header-only', true],
    ['--policy round_robin', false],
    ['--policy random', false],
    ['--policy least_load', false],
    ['--policy consistent_hashing', false],
    ['--policy manual', false],
    ['--policy round_robin --routing-key-override', true],
    ['--policy consistent_hashing --routing-key-override', true],
    ['--policy round_robin --routing-key-override --routing-key-order header-first', true],
    ['--policy round_robin --routing-key-override --routing-key-order header-only', false],
    ['--policy round_robin --routing-key-override --routing-key-sources headers cookie:sid query:c agents', false],
    ['--policy round_robin --routing-key-override --routing-key-sources headers body:/user', true],
    ['--policy round_robin --routing-key-override --routing-key-sources opening', true],
    ['--policy consistent_hashing --routing-key-sources headers body:/user', true],
    ['--policy round_robin --check-model', true],
    ['--policy round_robin --model-alias a=b', true],
  ])('%j: %j', (flags, wanted) => {
    expect(wants(flags)).toBe(wanted);
  });

  it.each([
    ['one model', [['a'], ['a']], false],
    [
      'models in another order',
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
      false,
    ],
    ['different models', [['a'], ['b']], true],
    ['models that only one names', [['a'], []], false],
  ])('workers of the config file with %s: %j', (_, models, wanted) => {
    const workers = models.map((ids, i) => ({
      url: `http://10.0.0.${i + 1}:8000`,
      ...(ids.length === 0 ? {} : { models: ids.map((id) => ({ id })) }),
    }));
    expect(wants('--policy round_robin', JSON.stringify({ workers }))).toBe(wanted);
  });
});
