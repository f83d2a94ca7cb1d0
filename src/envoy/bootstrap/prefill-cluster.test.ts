import { describe, expect, it } from 'vitest';
import { rendered } from './fixture.suite.ts';
import type { BootstrapOptions } from './options.ts';

describe('policies 4 split requests', () => {
  const fallback = (change: Partial<BootstrapOptions>) =>
    rendered(change).override.fallback_policy.policies[0].typed_extension_config.typed_config;

  it('Envoy alone chooses among decode workers, even where all of them are out', () => {
    expect(fallback({ disaggregated: true })).toMatchObject({
      fallback_policy: 'DEFAULT_SUBSET',
      default_subset: { leg: 'decode' },
    });
  });

  it.each<[string, Partial<BootstrapOptions>]>([
    ['where requests are not split', {}],
    ['of workers that stand in the file, which are decode workers', { disaggregated: true, staticWorkers: [] }],
  ])('among all %s', (_, change) => {
    expect(fallback(change).fallback_policy).toBe('ANY_ENDPOINT');
  });
});

describe('decisions 27 mirrored prefills', () => {
  it('envoy 12: each route that can have a prefill mirrors it under its own host, to nobody but the named worker', () => {
    const { vhost, clusters } = rendered({ mirrorsPrefills: true });
    const policies = [{ cluster: 'prefill_workers', disable_shadow_host_suffix_append: true }];
    for (const { route } of vhost.routes) expect(route.request_mirror_policies).toEqual(policies);

    const {
      type,
      load_balancing_policy: balancing,
      typed_extension_protocol_options: protocol,
    } = clusters.get('prefill_workers');
    expect(type).toBe('EDS');
    const override = balancing.policies[0].typed_extension_config.typed_config;
    expect(override.override_host_sources).toEqual([{ metadata: { key: 'envoy.lb', path: [{ key: 'prefill' }] } }]);
    expect(override.fallback_policy.policies[0].typed_extension_config.typed_config).toMatchObject({
      fallback_policy: 'NO_FALLBACK',
    });
    const http = protocol['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'];
    expect(http.retry_policy.num_retries).toBe(1);
    expect(http).not.toHaveProperty('http_filters');
  });

  it('envoy 6.6: a strict target stays one with a further key in its namespace', () => {
    const { override } = rendered({ mirrorsPrefills: true });
    expect(override.fallback_policy.policies[0].typed_extension_config.typed_config.subset_selectors).toEqual([
      { keys: ['strict', 'x-gateway-destination-endpoint'], fallback_policy: 'NO_FALLBACK' },
      { keys: ['strict', 'x-gateway-destination-endpoint', 'prefill'], fallback_policy: 'NO_FALLBACK' },
    ]);
  });

  it('Envoy 1.36 has no retries of a cluster', () => {
    const { clusters } = rendered({ mirrorsPrefills: true, envoy: '1.36' });
    expect(JSON.stringify(clusters.get('prefill_workers'))).not.toContain('retry_policy');
  });

  it('no other configuration has them', () => {
    const { vhost, clusters } = rendered();
    expect(JSON.stringify(vhost)).not.toContain('mirror');
    expect([...clusters.keys()]).not.toContain('prefill_workers');
  });
});
