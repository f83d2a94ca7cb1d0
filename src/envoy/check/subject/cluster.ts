import { type ConfigNode, extensionOf, typeOf } from '../config-node.ts';

/** A cluster of Envoy. */
export interface Cluster {
  readonly name: string;
  readonly node: ConfigNode;
  /** Its `HttpProtocolOptions`. */
  readonly http: ConfigNode;
  readonly type: string | undefined;
  /** It stands for others, one of which is chosen for each request. */
  readonly isAggregate: boolean;
  /** Addresses that stand in the file (`host:port`, `[ipv6]:port`, `unix:path`); null when they come from elsewhere. */
  readonly endpoints: readonly string[] | null;
  /** Its `override_host` policy; null when it has none. */
  readonly overrideHost: OverrideHost | null;
}

/** A load-balancing policy that takes the pick. */
export interface OverrideHost {
  readonly node: ConfigNode;
  readonly sources: readonly OverrideSource[];
}

export interface OverrideSource {
  readonly node: ConfigNode;
  /** Lower-case name of the header that it reads; null when it reads none. */
  readonly header: string | null;
  /** Namespace and keys of the metadata that it reads; null when it reads none. */
  readonly metadata: { readonly namespace: string; readonly path: readonly string[] } | null;
}

const CLUSTER_TYPES = ['STATIC', 'STRICT_DNS', 'LOGICAL_DNS', 'EDS', 'ORIGINAL_DST'];
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

export function clusterOf(node: ConfigNode): Cluster {
  const name = node.get('name').text() ?? '';
  return {
    name,
    node,
    http: node.get('typed_extension_protocol_options', HTTP_OPTIONS),
    type: node.get('type').choice(CLUSTER_TYPES, 'STATIC'),
    isAggregate: typeOf(node.get('cluster_type', 'typed_config')).endsWith('.aggregate.v3.ClusterConfig'),
    endpoints: endpointsOf(node),
    overrideHost: overrideHostOf(node),
  };
}

function endpointsOf(cluster: ConfigNode): readonly string[] | null {
  const assignment = cluster.get('load_assignment');
  if (!assignment.exists) return null;
  return lbEndpointsOf(cluster).flatMap((endpoint) => addressOf(endpoint.get('endpoint', 'address')) ?? []);
}

/** The endpoints that stand in the file. */
export function lbEndpointsOf(cluster: ConfigNode): readonly ConfigNode[] {
  const localities = cluster.get('load_assignment', 'endpoints').items();
  return localities.flatMap((locality) => locality.get('lb_endpoints').items());
}

/** `host:port`, `[ipv6]:port` or `unix:path` of a `core.v3.Address`; undefined for any other. */
export function addressOf(address: ConfigNode): string | undefined {
  const path = address.get('pipe', 'path').text();
  if (path !== undefined) return `unix:${path}`;
  const host = address.get('socket_address', 'address').text();
  const port = address.get('socket_address', 'port_value').number();
  if (host === undefined || port === undefined) return undefined;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function overrideHostOf(cluster: ConfigNode): OverrideHost | null {
  for (const policy of cluster.get('load_balancing_policy', 'policies').items()) {
    const { type, config } = extensionOf(policy.get('typed_extension_config'));
    if (!type.endsWith('.OverrideHost')) continue;
    return { node: config, sources: config.get('override_host_sources').items().map(sourceOf) };
  }
  return null;
}

function sourceOf(node: ConfigNode): OverrideSource {
  const metadata = node.get('metadata');
  const path = metadata
    .get('path')
    .items()
    .flatMap((step) => step.get('key').text() ?? []);
  return {
    node,
    header: node.get('header').text()?.toLowerCase() ?? null,
    metadata: metadata.exists ? { namespace: metadata.get('key').text() ?? '', path } : null,
  };
}

/** The default priority of its circuit breakers. */
export function breakersOf(cluster: ConfigNode): ConfigNode {
  const thresholds = cluster.get('circuit_breakers', 'thresholds');
  const standard = thresholds
    .items()
    .find((one) => one.get('priority').choice(['DEFAULT', 'HIGH'], 'DEFAULT') === 'DEFAULT');
  return standard ?? thresholds;
}
