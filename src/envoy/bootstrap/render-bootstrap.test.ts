// biome-ignore-all lint/suspicious/noExplicitAny: parsed configuration has no types
import { describe, expect, it } from 'vitest';
import type { Address } from './address.ts';
import { DEFAULTS, rendered } from './fixture.suite.ts';

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

  it("closes ext_proc streams gracefully where the service speaks Node's HTTP/2 (envoy 3.3)", () => {
    const layer = rendered({ nodeHttp2: true }).bootstrap.layered_runtime.layers[0].static_layer;
    expect(layer['envoy.reloadable_features.ext_proc_graceful_grpc_close']).toBe(true);
    expect(bootstrap.layered_runtime).toBeUndefined();
  });

  it.each<[string, boolean, ...Address[]]>([
    ['not at the only process, beside Envoy', false, { kind: 'tcp', host: '127.0.0.1', port: 9002 }],
    ['not at its Unix socket', false, { kind: 'unix', path: '/run/a.sock' }],
    ['at another machine, which may be several', true, { kind: 'tcp', host: '10.0.0.1', port: 9002 }],
    ['at a name', true, { kind: 'tcp', host: 'smg-envoy.default.svc', port: 9002 }],
    [
      'at several',
      true,
      { kind: 'tcp', host: '127.0.0.1', port: 9002 },
      { kind: 'tcp', host: '127.0.0.1', port: 9004 },
    ],
  ])('repeats a call %s', (_, repeated, ...pickers) => {
    const { grpc_service } = rendered({ pickers }).extProc;

    expect('retry_policy' in grpc_service).toBe(repeated);
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
    const policy = rendered({ retry: { ...DEFAULTS.retry, ...change } }).route.retry_policy;
    expect(policy).toMatchObject({ retry_on: retryOn, num_retries: retries, host_selection_retry_max_attempts: 50 });
    expect(policy.retriable_status_codes).toEqual(
      'connectFailureOnly' in change ? undefined : [408, 429, 500, 502, 503, 504],
    );
  });

  it('the longest back-off is never below the first', () => {
    const retry = { ...DEFAULTS.retry, initialBackoffMs: 200, maxBackoffMs: 100 };
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
