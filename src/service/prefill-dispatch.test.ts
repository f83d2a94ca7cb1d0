import { afterEach, describe, expect, it } from 'vitest';
import { setUpRegistry, specOf } from '../../test/support/registry-bench.ts';
import { load } from '../../test/support/try-load.ts';
import { HeaderDispatch } from '../disaggregation/header-dispatch.ts';
import { MirrorDispatch } from '../disaggregation/mirror-dispatch.ts';
import { ServiceDispatch } from '../disaggregation/service-dispatch.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { DEFAULT_UPSTREAM } from '../workers/upstream.ts';
import { createPrefillDispatch, findIn, type OwnedPrefillDispatch } from './prefill-dispatch.ts';

/** What is found of a prefill worker with these fields. */
function found(url: string, fields: object = {}) {
  const { registry, worker } = setUpRegistry();
  registry.add(specOf(url, { worker_type: 'prefill', ...fields }), 'flags');
  return findIn(registry)(worker(url));
}

describe('policies 4.3, 4.4 what dispatch has to know of a prefill worker', () => {
  it.each<[url: string, fields: object, facts: object]>([
    [
      'http://10.0.0.1:8000',
      { runtime_type: 'vllm', kv_connector: 'NixlConnector', kv_engine_id: 'e1', api_key: 'k', bootstrap_port: 9000 },
      {
        origin: 'http://10.0.0.1:8000',
        authority: '10.0.0.1:8000',
        host: '10.0.0.1',
        order: 'sequential',
        connector: 'NixlConnector',
        engineId: 'e1',
        apiKey: 'k',
        bootstrapPort: 9000,
        rank: null,
      },
    ],
    ['http://10.0.0.1:8000', { runtime_type: 'VLLM' }, { order: 'sequential', connector: null }],
    ['http://10.0.0.1:8000', { runtime_type: 'sglang' }, { order: 'parallel', connector: null, bootstrapPort: null }],
    ['http://10.0.0.1:8000', { runtime_type: 'tokenspeed' }, { order: 'parallel' }],
    ['http://10.0.0.1:8000', { runtime_type: 'generic' }, { order: 'parallel' }],
    ['https://10.0.0.1:8443', {}, { origin: 'https://10.0.0.1:8443', order: 'parallel' }],
    ['http://[fd00::1]:8000', {}, { origin: 'http://[fd00::1]:8000', host: '[fd00::1]', authority: '[fd00::1]:8000' }],
    ['http://prefill.example:8000', {}, { origin: '', authority: 'prefill.example:8000', host: 'prefill.example' }],
  ])('%s %j', (url, fields, facts) => {
    expect(found(url, fields)).toMatchObject(facts);
  });

  it('the engine counts as soon as it has told', () => {
    const { registry, instance, worker } = setUpRegistry();
    const url = 'http://10.0.0.1:8000';
    registry.add(specOf(url, { worker_type: 'prefill', labels: { kv_connector: 'MooncakeConnector' } }), 'flags');
    registry.engineTold(instance(url), { runtime: 'vllm', version: null });
    expect(findIn(registry)(worker(url))).toMatchObject({ order: 'sequential', connector: 'MooncakeConnector' });
  });

  it('a worker that has left is not found', () => {
    const { registry, instance, worker } = setUpRegistry();
    registry.add(specOf('https://prefill.example:8443', { worker_type: 'prefill' }), 'flags');
    const before = worker('https://prefill.example:8443');
    registry.remove('https://prefill.example:8443');
    expect(instance('https://prefill.example:8443')).toBeUndefined();
    expect(findIn(registry)(before)).toBeUndefined();
  });

  it('no regular worker is one', () => {
    expect(found('http://10.0.0.1:8000', { worker_type: 'regular' })).toBeUndefined();
  });
});

describe('decisions 27 --pd-dispatch', () => {
  let owned: OwnedPrefillDispatch | undefined;
  afterEach(() => owned?.close());

  it.each([
    ['', HeaderDispatch],
    ['--pd-disaggregation', ServiceDispatch],
    ['--pd-disaggregation --pd-dispatch header', HeaderDispatch],
    ['--pd-disaggregation --pd-dispatch mirror', MirrorDispatch],
  ])('%j', async (flags, kind) => {
    const { registry } = setUpRegistry();
    const parts = { registry, metrics: createMetrics(), upstream: DEFAULT_UPSTREAM, clock: () => 0 };
    owned = await createPrefillDispatch(load({ flags }).settings, parts);
    expect(owned.dispatch).toBeInstanceOf(kind);
  });
});
