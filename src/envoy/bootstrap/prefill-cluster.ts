import { DESTINATION_NAMESPACE, PREFILL_KEY, PREFILL_WORKER_CLUSTER } from '../names.ts';
import type { BootstrapOptions } from './options.ts';
import { type Config, httpProtocolOptions } from './typed.ts';
import { circuitBreakers, endpointsOfService, policy, upstreamHttp } from './worker-cluster.ts';
import { tlsMatches } from './worker-tls.ts';

/** The prefill workers, as those that requests are mirrored to (envoy 12). */
export function prefillCluster({ upstream, envoy }: BootstrapOptions): Config {
  return {
    '#': 'prefill workers; nobody but the service chooses among them, and nobody hears how a mirrored request ends',
    name: PREFILL_WORKER_CLUSTER,
    connect_timeout: '1s',
    ...endpointsOfService(),
    ...(upstream.tls === null ? {} : tlsMatches(upstream.tls, upstream.http2)),
    circuit_breakers: circuitBreakers(),
    typed_extension_protocol_options: httpProtocolOptions({
      ...upstreamHttp(upstream.http2),
      ...(envoy === '1.36' ? {} : RETRY),
    }),
    load_balancing_policy: { policies: [policy('override_host', 'override_host.v3.OverrideHost', onlyTheNamed())] },
  };
}

const RETRY: Config = {
  '# retry_policy': 'the route has none for a mirrored request; the service names its worker twice',
  retry_policy: { retry_on: 'connect-failure,refused-stream,reset-before-request', num_retries: 1 },
};

/** The body tells the decode worker whom it will meet: no other prefill worker can take its place. */
function onlyTheNamed(): Config {
  return {
    override_host_sources: [{ metadata: { key: DESTINATION_NAMESPACE, path: [{ key: PREFILL_KEY }] } }],
    fallback_policy: { policies: [policy('subset', 'subset.v3.Subset', nobodyElse())] },
  };
}

function nobodyElse(): Config {
  return {
    '# fallback_policy': 'a request without a prefill worker is mirrored to nobody',
    fallback_policy: 'NO_FALLBACK',
    subset_lb_policy: { policies: [policy('least_request', 'least_request.v3.LeastRequest')] },
  };
}
