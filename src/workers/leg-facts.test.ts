import { describe, expect, it } from 'vitest';
import { specOf } from '../../test/support/registry-bench.ts';
import { type EngineKind, type LegFacts, legFactsOf, pairingText } from './leg-facts.ts';

const facts = (fields: object, engine: EngineKind | null = null): LegFacts => {
  const found = legFactsOf(specOf('http://10.0.0.1:8000', { worker_type: 'prefill', ...fields }), engine);
  if (found === null) throw new Error('no facts');
  return found;
};
const VLLM: EngineKind = { runtime: 'vllm', version: '0.11.0' };
const SGLANG: EngineKind = { runtime: 'sglang', version: '0.5.0' };

describe('policies 4.2 facts, as the real SMG 1.11.0 shows them', () => {
  it.each<[text: string, fields: object, engine: EngineKind | null]>([
    ['?/?/?', {}, null],
    ['sglang/?/?', {}, SGLANG],
    ['vllm/?/?', {}, VLLM],
    ['vllm/?/?', { runtime_type: 'vLLM' }, SGLANG],
    ['generic/?/?', {}, { runtime: 'generic', version: null }],
    ['trtllm/?/?', { runtime_type: 'trtllm' }, null],
    ['tokenspeed/mooncake/?', { runtime_type: 'tokenspeed' }, null],
    ['tokenspeed/nixl/?', { runtime_type: 'tokenspeed', labels: { disaggregation_transfer_backend: 'nixl' } }, null],
    ['vllm/nixl/?', { kv_connector: 'NixlConnector' }, VLLM],
    ['vllm/nixl/?', { labels: { kv_connector: 'NixlConnector' } }, VLLM],
    ['vllm/mooncake/?', { labels: { kv_connector: 'MooncakeConnector' } }, VLLM],
    ['vllm/mooncake/?', { labels: { kv_connector: 'MooncakeStoreConnector' } }, VLLM],
    ['vllm/lmcacheconnectorv1/?', { labels: { kv_connector: 'LMCacheConnectorV1' } }, VLLM],
    ['sglang/nixl/?', { labels: { disaggregation_transfer_backend: 'NIXL' } }, SGLANG],
    ['sglang/?/?', { labels: { kv_connector: 'NixlConnector' } }, SGLANG],
    [
      'sglang/?/dtype=fp8,page=64,attn=fa3,model=bf16',
      { labels: { kv_cache_dtype: 'fp8', page_size: '64', attention_backend: 'FA3', model_dtype: 'bf16' } },
      SGLANG,
    ],
    ['sglang/?/page=32', { labels: { block_size: '32' } }, SGLANG],
    ['sglang/?/page=64', { labels: { block_size: '32', page_size: '64' } }, SGLANG],
    ['X1', { labels: { pairing_protocol: 'X1', kv_cache_dtype: 'fp8' } }, SGLANG],
  ])('%s of %j and %j', (text, fields, engine) => {
    expect(pairingText(facts(fields, engine))).toBe(text);
  });

  it.each([
    ['of the engine', {}, '0.11.0'],
    ['of a label, before that of the engine', { labels: { version: '9' } }, '9'],
  ])('version %s', (_, fields, version) => {
    expect(facts(fields, VLLM).version).toBe(version);
  });

  it.each([
    ['fields', { kv_engine_id: 'e1', bootstrap_port: 9001 }],
    ['a label', { labels: { kv_engine_id: 'e1' }, bootstrap_port: 9001 }],
  ])('what a decode worker is told of its prefill worker comes from %s', (_, fields) => {
    expect(facts(fields)).toMatchObject({ engineId: 'e1', bootstrapPort: 9001 });
  });

  it('are none of a regular worker', () => {
    expect(legFactsOf(specOf('http://10.0.0.1:8000'), SGLANG)).toBeNull();
  });
});
