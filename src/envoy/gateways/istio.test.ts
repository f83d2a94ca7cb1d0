import { describe, expect, it } from 'vitest';
import { extProcFilter } from '../bootstrap/ext-proc-filter.ts';
import type { BootstrapOptions } from '../bootstrap/options.ts';
import { pickerCall } from '../bootstrap/picker-call.ts';
import { routeAction } from '../bootstrap/routes.ts';
import { workerPolicy } from '../bootstrap/worker-cluster.ts';
import { ENVOY, gateway } from './fixture.suite.ts';
import { istioGateway } from './istio.ts';

const PICKER = 'outbound|9002||smg-envoy.smg.svc.cluster.local';

// biome-ignore lint/suspicious/noExplicitAny: tests look into manifests of any kind
function kinds(envoy: Partial<BootstrapOptions> = {}): Record<string, any> {
  const made = istioGateway(gateway({ envoy: { ...ENVOY, ...envoy } }));
  return Object.fromEntries(made.map((one) => [one['kind'], one]));
}

// biome-ignore lint/suspicious/noExplicitAny: the same
function patches(envoy: Partial<BootstrapOptions> = {}): any {
  const [filter, attempts, manager, route, once, workers, picker] = kinds(envoy)['EnvoyFilter'].spec.configPatches;
  return { filter, attempts, manager, route, once, workers, picker };
}

describe('envoy 16.1 the EnvoyFilter', () => {
  it('lies with the pods of the gateway and selects them', () => {
    const filter = kinds()['EnvoyFilter'];

    expect(filter.metadata.namespace).toBe('edge');
    expect(filter.spec.workloadSelector).toEqual({ labels: { istio: 'edge' } });
  });

  it("envoy 3.3: asks for the runtime guard in the pods where the service speaks Node's HTTP/2", () => {
    expect(kinds({ nodeHttp2: true })['EnvoyFilter']['#']).toContain('ext_proc_graceful_grpc_close: "true"');
    expect(kinds()['EnvoyFilter']['#']).not.toContain('ext_proc_graceful_grpc_close');
  });

  it("inserts the bootstrap's own filter, under a name of its own, off until a route turns it on", () => {
    const { filter, route } = patches();

    expect(filter.patch).toEqual({
      operation: 'INSERT_BEFORE',
      value: { ...extProcFilter(ENVOY, pickerCall(PICKER, [])), name: 'smg-envoy.ext_proc', disabled: true },
    });
    expect(filter.patch.value.typed_config.grpc_service.retry_policy.num_retries).toBe(3);
    expect(filter.match.listener.filterChain.filter.subFilter).toEqual({ name: 'envoy.filters.http.router' });
    expect(Object.keys(route.patch.value.typed_per_filter_config)).toEqual(['smg-envoy.ext_proc']);
  });

  it("patches the named route alone, with the bootstrap's timeouts and retries", () => {
    const { route } = patches({ requestTimeoutSecs: 7 });

    expect(route.match.routeConfiguration.vhost.route).toEqual({ name: 'smg-envoy' });
    expect(kinds()['VirtualService'].spec.http[0].name).toBe('smg-envoy');
    expect(route.patch.value.route).toEqual(routeAction({ ...ENVOY, requestTimeoutSecs: 7 }));
    expect(route.patch.value.route.timeout).toBe('7s');
  });

  it("patches the cluster that istiod makes of the workers' Service", () => {
    const { workers } = patches();

    expect(workers.match.cluster).toEqual({ service: 'vllm.models.svc.cluster.local', portNumber: 8000 });
    expect(workers.patch.value.load_balancing_policy).toEqual(workerPolicy(ENVOY));
  });

  it.each([
    [true, 'http://%UPSTREAM_HOST%'],
    [false, undefined],
  ])('stamp %s: the endpoints are istiod’s, so the address that answered is the stamp', (stamp, value) => {
    const [options] = Object.values(patches({ stamp }).workers.patch.value.typed_extension_protocol_options) as [
      { http_filters: { typed_config: { mutations: { response_mutations: { append?: { header: object } }[] } } }[] },
    ];
    const added = options.http_filters[0]?.typed_config.mutations.response_mutations.find(({ append }) => append);

    expect(added?.append?.header).toEqual(value && { key: 'x-smg-routed-worker-id', value });
  });

  it('every call to the service has an authority: a name with | is none for HTTP/2 servers', () => {
    const { filter, attempts, manager } = patches();
    const services = [
      filter.patch.value.typed_config.grpc_service,
      attempts.patch.value.typed_config.upstream_log[0].typed_config.common_config.grpc_service,
      manager.patch.value.typed_config.access_log[0].typed_config.common_config.grpc_service,
    ];

    for (const { envoy_grpc } of services) expect(envoy_grpc).toEqual({ cluster_name: PICKER, authority: 'picker' });
  });

  it('puts a route without retries before it, which only the service takes', () => {
    const { once, route, manager } = patches({ decisionHeader: true });
    const { name, match, route: action, ...placed } = once.patch.value;
    const { retry_policy: _, ...actionOfAll } = route.patch.value.route;

    expect([once.applyTo, once.patch.operation, once.match]).toEqual(['HTTP_ROUTE', 'INSERT_BEFORE', route.match]);
    expect(name).toBe('smg-envoy-once');
    expect(match.headers).toEqual([{ name: 'x-smg-send-once', present_match: true }]);
    expect(action).toEqual({ cluster: 'outbound|8000||vllm.models.svc.cluster.local', ...actionOfAll });
    expect({ ...placed, route: route.patch.value.route }).toEqual(route.patch.value);
    const [strip] = manager.patch.value.typed_config.early_header_mutation_extensions;
    expect(strip.typed_config.mutations).toContainEqual({ remove: 'x-smg-send-once' });
  });

  it('rewrites errors of the named route alone', () => {
    const { mappers } = patches().manager.patch.value.typed_config.local_reply_config;

    expect(mappers.length).toBeGreaterThan(5);
    for (const { filter } of mappers) {
      expect(filter.and_filter.filters[1].extension_filter.typed_config.expression).toBe(
        'xds.route_name == "smg-envoy" || xds.route_name == "smg-envoy-once"',
      );
    }
  });

  it.each([
    [16_777_216, undefined],
    [1_000_000, { initial_stream_window_size: 1_000_000 }],
    [10, { initial_stream_window_size: 65_535 }],
  ])('a body limit of %d: HTTP/2 clients have the same (envoy 4.4)', (bodyLimitBytes, window) => {
    const { manager, route } = patches({ bodyLimitBytes });

    expect(manager.patch.value.typed_config.http2_protocol_options).toEqual(window);
    expect(route.patch.value.request_body_buffer_limit).toBe(bodyLimitBytes);
  });

  it('no client names a worker, by any header that could', () => {
    const { manager, route } = patches({ destinationHeader: 'x-to' });
    const [strip] = manager.patch.value.typed_config.early_header_mutation_extensions;

    expect(strip.typed_config.mutations).toContainEqual({ remove: 'x-gateway-destination-endpoint' });
    expect(strip.typed_config.mutations).toContainEqual({ remove: 'x-to' });
    expect(route.patch.value.request_headers_to_remove).toContain('x-to');
  });
});
