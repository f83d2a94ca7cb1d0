import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LegFacts } from '../../workers/leg-facts.ts';
import { type Mismatch, mismatchOf, PAIRING_MODES } from './compatibility.ts';

const NO_LAYOUT = { dtype: null, page: null, attention: null, model: null };
const UNKNOWN: LegFacts = {
  runtime: null,
  version: null,
  protocol: null,
  transport: null,
  layout: NO_LAYOUT,
  bootstrapPort: null,
  engineId: null,
};
type Parts = Partial<Omit<LegFacts, 'layout'>> & { readonly layout?: Partial<LegFacts['layout']> };
const leg = ({ layout, ...rest }: Parts = {}): LegFacts => ({
  ...UNKNOWN,
  ...rest,
  layout: { ...NO_LAYOUT, ...layout },
});
const vllm = (transport: string | null, more: Parts = {}) => leg({ runtime: 'vllm', transport, ...more });
const sglang = (more: Parts = {}) => leg({ runtime: 'sglang', transport: 'mooncake', ...more });

describe('policies 4.2', () => {
  it.each<[what: string, prefill: LegFacts, decode: LegFacts, lenient: Mismatch | null, strict: Mismatch | null]>([
    ['vllm/nixl and vllm/mooncake', vllm('nixl'), vllm('mooncake'), 'transport', 'transport'],
    ['vllm/nixl and vllm/unknown', vllm('nixl'), vllm(null), null, 'transport'],
    ['sglang v1 and v2, same transport', sglang({ version: '1' }), sglang({ version: '2' }), null, 'version'],
    [
      'protocol x on both, different dtype',
      sglang({ protocol: 'x', layout: { dtype: 'fp8' } }),
      sglang({ protocol: 'x', layout: { dtype: 'bf16' } }),
      null,
      null,
    ],
    ['protocol x and none', sglang({ protocol: 'x' }), sglang(), null, 'pairing_protocol'],
    [
      'protocol x and none, other transport',
      sglang({ protocol: 'x' }),
      sglang({ transport: 'nixl' }),
      'transport',
      'pairing_protocol',
    ],
    ['protocol x and y', sglang({ protocol: 'x' }), sglang({ protocol: 'y' }), 'pairing_protocol', 'pairing_protocol'],
    [
      'protocol x on both, other runtime',
      sglang({ protocol: 'x' }),
      vllm(null, { protocol: 'x' }),
      'runtime',
      'runtime',
    ],
    ['sglang and vllm', sglang(), vllm('mooncake'), 'runtime', 'runtime'],
    ['nothing known of either', leg(), leg(), null, 'runtime'],
    ['runtime known of one', leg({ transport: 'nixl' }), vllm('nixl'), null, 'runtime'],
    ['transport of neither', vllm(null), vllm(null), null, 'transport'],
    ['all the same', sglang({ version: '1' }), sglang({ version: '1' }), null, null],
    ['version of one', sglang({ version: '1' }), sglang(), null, null],
    [
      'dtype differs',
      sglang({ layout: { dtype: 'a' } }),
      sglang({ layout: { dtype: 'b' } }),
      'kv_cache_dtype',
      'kv_cache_dtype',
    ],
    ['page differs', sglang({ layout: { page: '16' } }), sglang({ layout: { page: '64' } }), 'page_size', 'page_size'],
    ['dtype of one', sglang({ layout: { dtype: 'a' } }), sglang(), null, 'kv_cache_dtype'],
    ['attention of one', sglang(), sglang({ layout: { attention: 'fa3' } }), null, 'attention_backend'],
    ['model type of one', sglang(), sglang({ layout: { model: 'bf16' } }), null, 'model_dtype'],
    ['layout of neither', sglang(), sglang(), null, null],
  ])('%s', (_, prefill, decode, lenient, strict) => {
    expect(mismatchOf(prefill, decode, 'lenient')).toBe(lenient);
    expect(mismatchOf(prefill, decode, 'strict')).toBe(strict);
    expect(mismatchOf(prefill, decode, 'off')).toBeNull();
  });

  const text = fc.option(fc.constantFrom('a', 'b'));
  const facts: fc.Arbitrary<LegFacts> = fc.record({
    runtime: text,
    version: text,
    protocol: text,
    transport: text,
    layout: fc.record({ dtype: text, page: text, attention: text, model: text }),
    bootstrapPort: fc.constant(null),
    engineId: fc.constant(null),
  });

  it('does not depend on the side, and what strict allows lenient allows too', () => {
    fc.assert(
      fc.property(facts, facts, (one, other) => {
        for (const mode of PAIRING_MODES) expect(mismatchOf(one, other, mode)).toBe(mismatchOf(other, one, mode));
        if (mismatchOf(one, other, 'strict') === null) expect(mismatchOf(one, other, 'lenient')).toBeNull();
      }),
    );
  });
});
