// biome-ignore-all lint/suspicious/noExplicitAny: parsed configuration has no types
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { BootstrapOptions } from './options.ts';
import { renderBootstrap } from './render-bootstrap.ts';

const BASE: BootstrapOptions = {
  mode: 'ext-proc',
  listen: { kind: 'tcp', host: '127.0.0.1', port: 8080 },
  pickers: [{ kind: 'tcp', host: '127.0.0.1', port: 9002 }],
  failClosed: false,
  admin: null,
  upstream: { http2: false, tls: null, grpc: false },
  staticWorkers: null,
  staticHealth: null,
  envoy: '1.38',
  bodyLimitBytes: 16_777_216,
  retry: { attempts: 5, initialBackoffMs: 50, maxBackoffMs: 30_000, onReset: true, connectFailureOnly: false },
  requestTimeoutSecs: null,
  hiddenHeaders: ['authorization', 'cookie'],
  destinationHeader: null,
  stamp: true,
  dpAware: false,
  disaggregated: false,
  mirrorsPrefills: false,
  prefillTimeoutSecs: 58,
  decisionHeader: false,
  authzBody: false,
};

function rendered(change: Partial<BootstrapOptions> = {}) {
  const bootstrap = parse(renderBootstrap({ ...BASE, ...change }));
  const manager = bootstrap.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
  const clusters = new Map<string, any>(bootstrap.static_resources.clusters.map((c: any) => [c.name, c]));
  const workers = clusters.get('workers');
  const upstream = workers.typed_extension_protocol_options['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'];
  return {
    bootstrap,
    listener: bootstrap.static_resources.listeners[0],
    manager,
    extProc: manager.http_filters[0].typed_config,
    vhost: manager.route_config.virtual_hosts[0],
    route: manager.route_config.virtual_hosts[0].routes.at(-1).route,
    clusters,
    workers,
    override: workers.load_balancing_policy.policies[0].typed_extension_config.typed_config,
    stamp: upstream.http_filters[0].typed_config.mutations.response_mutations,
  };
}

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

describe('mode ext-proc-full-duplex', () => {
  const mode = 'ext-proc-full-duplex' as const;

  it('envoy 4.6: sends everything both ways, with the trailers that Envoy then wants, and no override', () => {
    const { extProc } = rendered({ mode });

    expect(extProc.processing_mode).toEqual({
      request_header_mode: 'SEND',
      response_header_mode: 'SEND',
      request_body_mode: 'FULL_DUPLEX_STREAMED',
      response_body_mode: 'FULL_DUPLEX_STREAMED',
      request_trailer_mode: 'SEND',
      response_trailer_mode: 'SEND',
    });
    expect([extProc.allow_mode_override, extProc.allowed_override_modes]).toEqual([undefined, undefined]);
    expect([
      extProc.allow_content_length_header,
      rendered({ mode, envoy: '1.37' }).extProc.allow_content_length_header,
    ]).toEqual([true, undefined]);
  });

  it('endpoint-picker-protocol 2, 3 and 5: forwards subset and served endpoint, takes the pick', () => {
    expect(rendered({ mode }).extProc.metadata_options).toEqual({
      forwarding_namespaces: { untyped: ['envoy.lb.subset_hint', 'envoy.lb', 'picker'] },
      receiving_namespaces: { untyped: ['envoy.lb', 'picker'] },
    });
    expect(rendered({ mode }).vhost.request_headers_to_remove).toContain('x-gateway-destination-endpoint');
    expect(rendered({ mode }).override.override_host_sources).toEqual([
      { metadata: { key: 'envoy.lb', path: [{ key: 'x-gateway-destination-endpoint' }] } },
    ]);
  });

  it('envoy I26 and T10: has the route without retries, and answers 503 without the service, fail-open or not', () => {
    const { vhost } = rendered({ mode });

    expect(vhost.routes.map(({ name }: any) => name)).toEqual(['once', 'all']);
    expect(vhost.routes.map(({ route }: any) => 'retry_policy' in route)).toEqual([false, true]);
    for (const failClosed of [true, false]) {
      const { extProc } = rendered({ mode, failClosed });
      expect(extProc).toMatchObject({
        failure_mode_allow: !failClosed,
        status_on_error: { code: 'ServiceUnavailable' },
      });
    }
  });
});

describe('decisions 46 data-parallel ranks', () => {
  const logged = (manager: any) => manager.http_filters[1].typed_config.upstream_log[0].typed_config;

  it('the stamp ends with the rank of the request, which the log of attempts reads there', () => {
    const { stamp, manager } = rendered({ dpAware: true });

    expect(stamp[2].append.header.value).toBe(
      '%UPSTREAM_METADATA(worker:stamp)%%DYNAMIC_METADATA(picker:rank_suffix)%',
    );
    expect(logged(manager).additional_response_headers_to_log).toEqual(['x-smg-routed-worker-id']);
  });

  it('no stamp, no rank', () => {
    const { stamp, manager } = rendered({ dpAware: true, stamp: false });

    expect(stamp).toHaveLength(2);
    expect(logged(manager)).not.toHaveProperty('additional_response_headers_to_log');
  });

  it('nothing of it without --dp-aware', () => {
    const { stamp, manager } = rendered();

    expect(stamp[2].append.header.value).toBe('%UPSTREAM_METADATA(worker:stamp)%');
    expect(logged(manager)).not.toHaveProperty('additional_response_headers_to_log');
  });
});

describe('envoy 2.2 the recommended configuration', () => {
  const { bootstrap, manager, extProc, vhost, route, workers, override, listener } = rendered();

  it('closes ext_proc streams gracefully', () => {
    const layer = bootstrap.layered_runtime.layers[0].static_layer;
    expect(layer['envoy.reloadable_features.ext_proc_graceful_grpc_close']).toBe(true);
  });

  it('decisions 4 and 38: neither x-forwarded-for nor a request id is written by Envoy', () => {
    expect(manager).toMatchObject({
      use_remote_address: true,
      skip_xff_append: true,
      generate_request_id: false,
      preserve_external_request_id: true,
      always_set_request_id_in_response: true,
    });
  });

  it('decisions 11 timeouts', () => {
    expect(extProc).toMatchObject({ message_timeout: '5s', max_message_timeout: '60s' });
    expect(route).toMatchObject({ timeout: '0s', idle_timeout: '900s' });
    expect(manager.stream_idle_timeout).toBe('900s');
  });

  it('decisions 20: the one mode the service may ask for has all fields written out', () => {
    const { request_body_mode: _, ...base } = extProc.processing_mode;
    expect(extProc.allow_mode_override).toBe(true);
    expect(extProc.allowed_override_modes).toEqual([{ ...base, request_body_mode: 'BUFFERED_PARTIAL' }]);
    expect(Object.keys(extProc.processing_mode)).toHaveLength(6);
  });

  it('decisions 15: control and carrier headers end here', () => {
    expect(vhost.request_headers_to_remove).toEqual([
      'x-smg-target-worker',
      'x-smg-routing-tokens',
      'x-smg-priority',
      'x-smg-tenant-id',
      'x-smg-mcp',
      'x-smg-send-once',
      'x-smg-decision',
      'x-gateway-destination-endpoint',
    ]);
    const strip = manager.early_header_mutation_extensions[0].typed_config.mutations;
    expect(strip).toContainEqual({ remove: 'x-gateway-destination-endpoint' });
    // It chooses a route.
    expect(strip).toContainEqual({ remove: 'x-smg-send-once' });
    expect(strip).not.toContainEqual({ remove: 'x-smg-target-worker' });
  });

  it('decisions 23: periodic entries, and the service knows their interval', () => {
    expect(manager.access_log_options).toEqual({ access_log_flush_interval: '10s' });
    expect(extProc.grpc_service.initial_metadata).toEqual([{ key: 'x-smg-envoy', value: 'periodic=10' }]);
  });

  it('policies 2.3: the router logs failed attempts, and nothing while all is well', () => {
    const [log] = manager.http_filters.at(-1).typed_config.upstream_log;
    expect(log.filter.or_filter.filters).toMatchObject([
      { response_flag_filter: { flags: ['UF', 'UC', 'UR', 'UPE', 'UT'] } },
      { status_code_filter: { comparison: { op: 'EQ', value: { default_value: 408 } } } },
      { status_code_filter: { comparison: { op: 'GE', value: { default_value: 500 } } } },
    ]);
    // Equal loggers share a stream, so that attempts and ends come in order.
    expect(log.typed_config).toEqual(manager.access_log[0].typed_config);
    expect(log.typed_config.common_config).toMatchObject({ log_name: 'picker-attempts', buffer_size_bytes: 0 });
  });

  it('envoy 6.6: a strict target finds nobody else', () => {
    const subset = override.fallback_policy.policies[0].typed_extension_config.typed_config;
    expect(subset.subset_selectors).toEqual([
      { keys: ['strict', 'x-gateway-destination-endpoint'], fallback_policy: 'NO_FALLBACK' },
    ]);
    expect(override.selected_host_key).toEqual({ key: 'picker', path: [{ key: 'served' }] });
    expect(extProc.mutation_rules).toEqual({ allow_envoy: true });
  });

  it('every path goes to a worker', () => {
    expect(vhost.routes.map((each: any) => each.match)).toEqual([
      { prefix: '/', headers: [{ name: 'x-smg-send-once', present_match: true }] },
      { prefix: '/' },
    ]);
    const { retry_policy, ...once } = vhost.routes[1].route;
    expect(vhost.routes[0].route).toEqual(once);
  });

  it('the workers come over ADS', () => {
    expect(workers.type).toBe('EDS');
    const service = bootstrap.dynamic_resources.ads_config.grpc_services[0].envoy_grpc;
    expect(service.cluster_name).toBe('picker');
    expect(service.retry_policy.retry_back_off.max_interval).toBe('1s');
  });

  it('envoy 4.4: one limit for HTTP/1.1 and HTTP/2', () => {
    expect(vhost.request_body_buffer_limit).toBe(16_777_216);
    expect(listener.per_connection_buffer_limit_bytes).toBe(1_048_576);
    expect(manager.http2_protocol_options.initial_stream_window_size).toBe(1_048_576);
  });

  it('has no admin listener', () => expect(bootstrap.admin).toBeUndefined());
});

describe('pickers', () => {
  it('one: the logger shares its cluster', () => {
    const { manager, clusters } = rendered();
    const log = manager.access_log[0].typed_config.common_config;
    expect(manager.access_log).toHaveLength(1);
    expect(log.grpc_service.envoy_grpc.cluster_name).toBe('picker');
    expect([...clusters.keys()]).toEqual(['workers', 'picker']);
  });

  it('several: each has a logger of its own, to a cluster of its own', () => {
    const pickers = [9002, 9004, 9006].map((port) => ({ kind: 'tcp', host: '127.0.0.1', port }) as const);
    const { manager, clusters } = rendered({ pickers });
    const names = manager.access_log.map(
      (log: any) => log.typed_config.common_config.grpc_service.envoy_grpc.cluster_name,
    );
    expect(names).toEqual(['picker_1', 'picker_2', 'picker_3']);
    const attempts = manager.http_filters.at(-1).typed_config.upstream_log;
    expect(attempts.map((log: any) => log.typed_config)).toEqual(
      manager.access_log.map((log: any) => log.typed_config),
    );
    expect(clusters.get('picker').load_assignment.endpoints[0].lb_endpoints).toHaveLength(3);
    expect(clusters.get('picker_2').load_assignment.endpoints[0].lb_endpoints).toEqual([
      { endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: 9004 } } } },
    ]);
  });

  it.each([
    [{ kind: 'tcp', host: '::1', port: 1 } as const, 'STATIC', { socket_address: { address: '::1', port_value: 1 } }],
    [
      { kind: 'tcp', host: 'svc', port: 1 } as const,
      'STRICT_DNS',
      { socket_address: { address: 'svc', port_value: 1 } },
    ],
    [{ kind: 'unix', path: '/run/s' } as const, 'STATIC', { pipe: { path: '/run/s' } }],
  ])('%o', (picker, type, address) => {
    const cluster = rendered({ pickers: [picker] }).clusters.get('picker');
    expect(cluster.type).toBe(type);
    expect(cluster.load_assignment.endpoints[0].lb_endpoints[0].endpoint.address).toEqual(address);
  });
});

describe('options', () => {
  it('fail closed answers 503', () => {
    expect(rendered().extProc).toMatchObject({ failure_mode_allow: true });
    const { extProc } = rendered({ failClosed: true });
    expect(extProc).toMatchObject({ failure_mode_allow: false, status_on_error: { code: 'ServiceUnavailable' } });
  });

  it.each([
    ['1.36', false],
    ['1.37', false],
    ['1.38', true],
  ] as const)('decisions 28: %s has selected_host_key: %s', (envoy, has) => {
    expect('selected_host_key' in rendered({ envoy }).override).toBe(has);
  });

  it.each([
    [{}, 'connect-failure,refused-stream,reset,retriable-status-codes', 4],
    [{ onReset: false }, 'connect-failure,refused-stream,reset-before-request,retriable-status-codes', 4],
    [{ connectFailureOnly: true }, 'connect-failure', 4],
    [{ attempts: 1 }, 'connect-failure,refused-stream,reset,retriable-status-codes', 0],
  ])('decisions 31: %o', (change, retryOn, retries) => {
    const policy = rendered({ retry: { ...BASE.retry, ...change } }).route.retry_policy;
    expect(policy).toMatchObject({ retry_on: retryOn, num_retries: retries, host_selection_retry_max_attempts: 50 });
    expect(policy.retriable_status_codes).toEqual(
      'connectFailureOnly' in change ? undefined : [408, 429, 500, 502, 503, 504],
    );
  });

  it('the longest back-off is never below the first', () => {
    const retry = { ...BASE.retry, initialBackoffMs: 200, maxBackoffMs: 100 };
    expect(rendered({ retry }).route.retry_policy.retry_back_off).toEqual({
      base_interval: '0.2s',
      max_interval: '0.2s',
    });
  });

  it('decisions 42: the request timeout is the route timeout when given', () => {
    expect(rendered({ requestTimeoutSecs: 30 }).route.timeout).toBe('30s');
  });

  it('decisions 29: hides what it is told to', () => {
    expect(rendered().extProc.forward_rules.disallowed_headers.patterns).toEqual([
      { exact: 'authorization' },
      { exact: 'cookie' },
    ]);
    expect(rendered({ hiddenHeaders: [] }).extProc.forward_rules).toBeUndefined();
  });

  it('decisions 22: the stamp comes from endpoint metadata, and a forged one goes', () => {
    const removals = [{ remove: 'x-smg-routed-worker-id' }, { remove: 'x-smg-error-code' }];
    expect(rendered().stamp).toEqual([
      ...removals,
      {
        append: {
          header: { key: 'x-smg-routed-worker-id', value: '%UPSTREAM_METADATA(worker:stamp)%' },
          append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
        },
      },
    ]);
    expect(rendered({ stamp: false }).stamp).toEqual(removals);
  });

  it('decisions 21: a header copy of the destination is neither taken from clients nor given to workers', () => {
    const { manager, vhost } = rendered({ destinationHeader: 'x-dest' });
    expect(manager.early_header_mutation_extensions[0].typed_config.mutations).toContainEqual({ remove: 'x-dest' });
    expect(vhost.request_headers_to_remove).toContain('x-dest');
  });

  it('the decision header comes from the metadata of the pick', () => {
    expect(rendered().vhost.response_headers_to_add).toBeUndefined();
    const { vhost } = rendered({ decisionHeader: true });
    expect(vhost.response_headers_to_remove).toEqual(['x-smg-decision']);
    expect(vhost.response_headers_to_add[0].header.value).toBe('%DYNAMIC_METADATA(picker:decision)%');
  });

  it('static workers carry what EDS would say of them', () => {
    const address = { kind: 'tcp', host: '10.0.0.1', port: 8000 } as const;
    const { workers, bootstrap } = rendered({
      staticWorkers: [
        { address, id: 'http://10.0.0.1:8000', stamp: 'a', tlsName: null, grpc: false },
        { address: { ...address, host: 'w2' }, id: 'http://w2:8000', stamp: '', tlsName: null, grpc: false },
      ],
    });
    expect(bootstrap.dynamic_resources).toBeUndefined();
    expect(workers.type).toBe('STRICT_DNS');
    const metadata = workers.load_assignment.endpoints[0].lb_endpoints.map(
      (e: any) => e.metadata.filter_metadata.worker,
    );
    expect(metadata).toEqual([{ id: 'http://10.0.0.1:8000', stamp: 'a' }, { id: 'http://w2:8000' }]);
  });

  it('a small body limit lowers the buffers that would raise it', () => {
    const { listener, manager, vhost } = rendered({ bodyLimitBytes: 1000 });
    expect(listener.per_connection_buffer_limit_bytes).toBe(1000);
    expect(vhost.request_body_buffer_limit).toBe(1000);
    expect(manager.http2_protocol_options.initial_stream_window_size).toBe(65_535);
  });

  it('an admin listener where it is asked for', () => {
    const admin = { kind: 'tcp', host: '127.0.0.1', port: 9901 } as const;
    expect(rendered({ admin }).bootstrap.admin.address.socket_address.port_value).toBe(9901);
  });
});

describe('envoy 10.7 local replies', () => {
  const { mappers } = rendered().manager.local_reply_config;

  it('each is the error envelope with its code', () => {
    for (const mapper of mappers) {
      const { error } = JSON.parse(mapper.body_format_override.text_format_source.inline_string);
      const header = mapper.headers_to_add[0];
      expect(header).toMatchObject({ header: { key: 'x-smg-error-code', value: error.code } });
      expect(header.append_action).toBe('OVERWRITE_IF_EXISTS_OR_ADD');
      expect(Object.keys(error)).toEqual(['type', 'code', 'message', 'param']);
      expect(mapper.body_format_override.content_type).toBe('application/json');
    }
  });

  it.each([
    [['UH', 'UO', 'NC'], 'no_available_workers'],
    [['UF'], 'call_upstream_connection_failed'],
    [['UC', 'UR', 'LR'], 'call_upstream_request_error'],
    [['UPE'], 'call_upstream_request_error'],
    [['UT'], 'call_upstream_timeout'],
    [['NR'], 'route_not_found'],
  ])('flags %j: %s', (flags, code) => {
    const mapper = mappers.find((each: any) => each.filter.response_flag_filter?.flags.includes(flags[0]));
    expect(mapper.filter.response_flag_filter.flags).toEqual(flags);
    expect(mapper.headers_to_add[0].header.value).toBe(code);
  });

  it('T75, T76: no status alone decides, no text can hold internals', () => {
    expect(rendered().manager.local_reply_config.body_format).toBeUndefined();
    for (const mapper of mappers) {
      expect(Object.keys(mapper.filter)).not.toContain('status_code_filter');
      expect(mapper.body_format_override.text_format_source.inline_string).not.toContain('%');
    }
  });
});
