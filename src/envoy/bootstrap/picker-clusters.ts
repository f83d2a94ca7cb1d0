import { PICKER_CLUSTER } from '../names.ts';
import { loggerCluster } from './access-log.ts';
import { type Address, envoyAddress, isDnsName } from './address.ts';
import type { BootstrapOptions } from './options.ts';
import { pickerSocket } from './picker-tls.ts';
import { type Config, httpProtocolOptions } from './typed.ts';

/** Name under which the service reports that it takes picks (grpc.health.v1). */
export const HEALTH_SERVICE = 'envoy.service.ext_proc.v3.ExternalProcessor';
const AUTHZ_HEALTH_SERVICE = 'envoy.service.auth.v3.Authorization';

/** The cluster of all replicas and, where there are several, one of each for its access log. */
export function pickerClusters({ pickers, pickerTls, mode }: BootstrapOptions): readonly Config[] {
  const tls = pickerTls === null ? {} : pickerSocket(pickerTls);
  const all = cluster(PICKER_CLUSTER, pickers, mode, {
    ...tls,
    '# health_checks': 'a replica that drains or hangs is left out within a second, as long as another one is there',
    health_checks: [
      {
        timeout: '1s',
        interval: '1s',
        no_traffic_interval: '1s',
        unhealthy_threshold: 1,
        healthy_threshold: 1,
        grpc_health_check: { service_name: mode === 'ext-authz' ? AUTHZ_HEALTH_SERVICE : HEALTH_SERVICE },
      },
    ],
  });
  if (pickers.length === 1) return [all];
  return [all, ...pickers.map((one, index) => cluster(loggerCluster(index, pickers.length), [one], mode, tls))];
}

/**
 * `typed_extension_protocol_options` of a cluster of the service: HTTP/2 that notices a dead host. In full duplex it is all
 * that notices one, since no message has a time limit there (envoy 4.6).
 */
export function pickerProtocol(mode: BootstrapOptions['mode']): Config {
  const interval = mode === 'ext-proc-full-duplex' ? '2s' : '10s';
  return httpProtocolOptions({
    explicit_http_config: {
      http2_protocol_options: {
        max_concurrent_streams: 10_000,
        connection_keepalive: { interval, timeout: '3s' },
      },
    },
  });
}

function cluster(name: string, addresses: readonly Address[], mode: BootstrapOptions['mode'], more: Config): Config {
  const dns = addresses.some(isDnsName);
  return {
    name,
    type: dns ? 'STRICT_DNS' : 'STATIC',
    ...(dns ? { dns_lookup_family: 'V4_PREFERRED' } : {}),
    connect_timeout: '0.25s',
    '# circuit_breakers': 'the defaults allow 1024 streams at once; each request being placed is one',
    circuit_breakers: {
      thresholds: [
        { max_connections: 1_000_000, max_pending_requests: 1_000_000, max_requests: 1_000_000, max_retries: 1000 },
      ],
    },
    typed_extension_protocol_options: pickerProtocol(mode),
    ...more,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: addresses.map((address) => ({ endpoint: { address: envoyAddress(address) } })) }],
    },
  };
}
