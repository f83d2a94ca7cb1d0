// biome-ignore-all lint/suspicious/noExplicitAny: parsed configuration has no types
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { envoyConfig } from '../../../test/support/stack.ts';

const NAMESPACE = 'envoy.filters.http.ext_authz';

async function rendered(...flags: string[]) {
  const bootstrap = parse(await envoyConfig(['--mode', 'ext-authz', ...flags]));
  const manager = bootstrap.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
  const clusters = new Map<string, any>(bootstrap.static_resources.clusters.map((each: any) => [each.name, each]));
  const vhost = manager.route_config.virtual_hosts[0];
  return {
    bootstrap,
    manager,
    authz: manager.http_filters[0],
    vhost,
    routes: vhost.routes,
    clusters,
    override: clusters.get('workers').load_balancing_policy.policies[0].typed_extension_config.typed_config,
  };
}

describe('envoy 11 the configuration that asks by ext_authz', () => {
  it('T69: bodies are sent where they are wanted: raw, and a prefix of what is larger', async () => {
    const { authz } = await rendered('--routing-key-override', '--envoy-body-limit', '5000');
    expect(authz.typed_config.with_request_body).toEqual({
      max_request_bytes: 5000,
      allow_partial_message: true,
      pack_as_bytes: true,
    });
    expect(authz.typed_config.encode_raw_headers).toBe(true);
  });

  it.each([
    [['--policy', 'round_robin'], false],
    [['--policy', 'round_robin', '--authz-body', 'on'], true],
    [['--routing-key-override', '--authz-body', 'off'], false],
  ])('%j: sends bodies %j, for which gRPC does not wait', async (flags, sent) => {
    const { authz, routes } = await rendered(...flags);
    expect('with_request_body' in authz.typed_config).toBe(sent);
    expect(routes.map(({ name }: any) => name)).toEqual(sent ? ['grpc', 'all'] : ['all']);
    if (!sent) return;
    expect(routes[0].match).toEqual({ prefix: '/', grpc: {} });
    expect(routes[0].route).toEqual(routes[1].route);
    expect(routes[0].typed_per_filter_config[NAMESPACE].check_settings).toEqual({
      disable_request_body_buffering: true,
    });
  });

  it("T70: a check has far longer than Envoy's 200 ms", async () => {
    const { authz } = await rendered();
    expect(authz.typed_config.grpc_service.timeout).toBe('5s');
  });

  it('T71: destination, pick id and decision are read where the filter puts them', async () => {
    const { authz, manager, override, vhost } = await rendered('--decision-header');
    expect(authz.name).toBe(NAMESPACE);
    expect(override.override_host_sources).toEqual([
      { metadata: { key: NAMESPACE, path: [{ key: 'x-gateway-destination-endpoint' }] } },
    ]);
    expect(manager.access_log[0].filter.metadata_filter.matcher).toMatchObject({
      filter: NAMESPACE,
      path: [{ key: 'pick_id' }],
    });
    expect(vhost.response_headers_to_add[0].header.value).toBe(`%DYNAMIC_METADATA(${NAMESPACE}:decision)%`);
  });

  it('envoy 6.6: a strict target finds nobody else, and no client says strict', async () => {
    const { manager, override } = await rendered();
    const subset = override.fallback_policy.policies[0].typed_extension_config.typed_config;
    expect(subset.subset_selectors).toEqual([{ keys: ['strict'], fallback_policy: 'NO_FALLBACK' }]);
    expect(manager.http_filters[1].typed_config.request_rules).toEqual([
      {
        header: 'x-smg-strict',
        on_header_present: { metadata_namespace: 'envoy.lb', key: 'strict', type: 'STRING' },
        remove: true,
      },
    ]);
    const strip = manager.early_header_mutation_extensions[0].typed_config.mutations;
    expect(strip).toContainEqual({ remove: 'x-smg-strict' });
  });

  it('the service is ours to Envoy and Envoy ours to the service', async () => {
    const { authz, clusters, bootstrap } = await rendered('--picker', '127.0.0.1:1', '--picker', '127.0.0.1:2');
    expect(authz.typed_config.grpc_service.initial_metadata).toEqual([{ key: 'x-smg-envoy', value: 'periodic=10' }]);
    expect(clusters.get('picker').health_checks[0].grpc_health_check).toEqual({
      service_name: 'envoy.service.auth.v3.Authorization',
    });
    // Of streams alone.
    expect(bootstrap.layered_runtime).toBeUndefined();
  });

  it.each([
    ['open', { failure_mode_allow: true }],
    ['closed', { failure_mode_allow: false, status_on_error: { code: 'ServiceUnavailable' } }],
  ])('--fail %s', async (fail, mode) => {
    const { authz, manager } = await rendered('--fail', fail);
    expect(authz.typed_config).toMatchObject(mode);
    const texts = JSON.stringify(manager.local_reply_config);
    expect(texts).toContain('ext_authz_error');
    // The answers of the service itself keep their form.
    expect(texts).not.toContain('ext_authz_denied');
  });

  it('decisions 29: secrets are hidden unless a key needs them', async () => {
    const hidden = async (...flags: string[]) => (await rendered(...flags)).authz.typed_config.disallowed_headers;
    expect(await hidden()).toEqual({ patterns: [{ exact: 'authorization' }, { exact: 'cookie' }] });
    expect(await hidden('--policy', 'consistent_hashing')).toBeUndefined();
  });
});
