import type { CheckSettings } from '../check-settings.ts';
import type { ConfigNode } from '../config-node.ts';
import { grpcServiceOf } from '../subject/asker.ts';
import { breakersOf, type Cluster } from '../subject/cluster.ts';
import { isFullDuplex } from '../subject/processing-mode.ts';
import type { Subject } from '../subject/subject.ts';
import type { Trap } from '../trap.ts';
import { askingChains, ownLoggers, processors } from './askers.ts';

const CLUSTER = 'the cluster of the service';
const GRPC = 'grpc_service of the ext_proc filter';
/** Envoy's default of each threshold but that of retries. */
export const DEFAULT_THRESHOLD = 1024;

const RETRY = `retry_policy:
  retry_on: connect-failure,refused-stream,unavailable,reset
  num_retries: 3
  retry_back_off: {base_interval: 0.005s, max_interval: 10s}
  retry_host_predicate:
    - name: envoy.retry_host_predicates.previous_hosts
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate
  host_selection_retry_max_attempts: 5`;

const HEALTH = `health_checks:
  - timeout: 1s
    interval: 1s
    no_traffic_interval: 1s
    unhealthy_threshold: 1
    healthy_threshold: 1
    grpc_health_check: {service_name: envoy.service.ext_proc.v3.ExternalProcessor}`;

/** How Envoy reaches the service (envoy 10.5, 15). */
export const PICKER_CLUSTER_TRAPS: readonly Trap[] = [
  {
    id: 'T27',
    level: 'error',
    title: 'the cluster of the service takes about a thousand requests at once',
    consequence: 'More than that get 500 with the detail overflow, or go on without a pick.',
    into: CLUSTER,
    cure: `circuit_breakers:
  thresholds:
    - {max_connections: 1000000, max_pending_requests: 1000000, max_requests: 1000000, max_retries: 1000}`,
    // envoy 15.2
    *find(subject) {
      for (const { node } of serviceClusters(subject)) {
        const breakers = breakersOf(node);
        const low = ['max_requests', 'max_pending_requests'].filter(
          (name) => (breakers.get(name).number(DEFAULT_THRESHOLD) ?? Number.POSITIVE_INFINITY) <= DEFAULT_THRESHOLD,
        );
        if (low.length > 0) yield { at: breakers, found: low.join(', ') };
      }
    },
  },
  {
    id: 'T28',
    level: 'error',
    title: 'the cluster of the service does not speak HTTP/2',
    consequence: 'Every stream to the service fails.',
    into: CLUSTER,
    cure: `typed_extension_protocol_options:
  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
    "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    explicit_http_config:
      http2_protocol_options: {}`,
    // envoy 15.2
    *find(subject, settings) {
      for (const cluster of [...serviceClusters(subject), ...loggerClusters(subject, settings)]) {
        if (!speaksHttp2(cluster)) yield { at: cluster.node, found: cluster.name };
      }
    },
  },
  {
    id: 'T32',
    level: 'warning',
    title: 'fail closed with a single endpoint of the service',
    consequence: 'Each restart of the service is an outage.',
    into: 'load_assignment of the cluster of the service',
    cure: `# a second replica among the lb_endpoints; or failure_mode_allow: true on the filter`,
    // envoy 15.4
    remark: 'Not in full duplex, where failing open does not help once a body has come.',
    *find({ askers }) {
      for (const { config, cluster, kind, modes } of askers) {
        if (kind === 'ext_proc' && modes.every(isFullDuplex)) continue;
        if (cluster === undefined || config.get('failure_mode_allow').bool(false) !== false) continue;
        const single = cluster.endpoints?.length === 1 && cluster.type !== 'STRICT_DNS';
        if (single) yield { at: cluster.node.get('load_assignment'), found: cluster.name };
      }
    },
  },
  {
    id: 'T33',
    level: 'warning',
    title: 'nothing leaves out a replica of the service that is away',
    consequence: 'While one is down, its share of the requests fails or goes on without a pick.',
    into: CLUSTER,
    cure: HEALTH,
    // envoy 15.3
    *find(subject) {
      for (const { cluster, service } of processors(subject)) {
        if (cluster === undefined || (cluster.endpoints?.length ?? 0) < 2) continue;
        const checks = cluster.node.get('health_checks');
        if (checks.absent && service.node.get('retry_policy').absent) yield { at: cluster.node, found: cluster.name };
      }
    },
  },
  {
    id: 'T34',
    level: 'warning',
    title: 'the retry policy of calls to the service does not help',
    consequence: 'A retry waits up to a second, asks the replica that just failed again, or is never made.',
    into: GRPC,
    cure: RETRY,
    // envoy 10.5
    *find(subject) {
      for (const { service } of processors(subject)) {
        const misplaced = service.node.get('envoy_grpc', 'retry_policy');
        if (misplaced.exists) yield { at: misplaced, found: 'it stands in envoy_grpc, where ext_proc does not use it' };
        const policy = service.node.get('retry_policy');
        if (!policy.exists) continue;
        if (policy.get('retry_back_off').absent) yield { at: policy, found: 'no retry_back_off' };
        if (!hasPreviousHosts(policy)) yield { at: policy, found: 'no previous_hosts' };
      }
    },
  },
  {
    id: 'T35',
    level: 'warning',
    title: 'healthy_panic_threshold is 0',
    consequence: 'When the last replica of the service fails its check, every request fails at once.',
    into: 'common_lb_config of the cluster of the service',
    cure: '# delete healthy_panic_threshold',
    // envoy 15.3
    *find(subject) {
      for (const { node } of serviceClusters(subject)) {
        const threshold = node.get('common_lb_config', 'healthy_panic_threshold');
        if (threshold.exists && threshold.get('value').number(0) === 0) yield { at: threshold };
      }
    },
  },
  {
    id: 'T67',
    level: 'warning',
    title: 'the service is called by google_grpc',
    consequence: 'No circuit breakers, retries and HTTP/2 options.',
    into: 'grpc_service',
    cure: 'envoy_grpc: {cluster_name: picker}',
    // envoy 15.2
    *find(subject, settings) {
      for (const { service } of subject.askers) yield* google(service.node);
      for (const chain of askingChains(subject)) {
        for (const logger of ownLoggers(subject, chain, settings)) yield* google(logger.config.get('grpc_service'));
      }
    },
  },
  {
    id: 'T81',
    level: 'error',
    levelBy: "a note where `--transport` is not Node's HTTP/2",
    title: 'the service is called by a name that its HTTP/2 refuses',
    consequence: 'Every call fails: Envoy sends the name of the cluster as the host where no authority is given.',
    into: 'envoy_grpc',
    cure: 'authority: picker',
    // RFC 3986 3.2; the names of istiod's clusters have |
    *find(subject, settings) {
      const own = askingChains(subject).flatMap((chain) => ownLoggers(subject, chain, settings));
      const calls = [
        ...subject.askers.map(({ service }) => service.node),
        ...own.map(({ config }) => config.get('grpc_service')),
      ];
      for (const call of calls) {
        const authority = call.get('envoy_grpc', 'authority');
        const name = authority.exists ? authority : call.get('envoy_grpc', 'cluster_name');
        const text = name.text() ?? '';
        if (authority.open || AUTHORITY.test(text)) continue;
        yield { at: name, found: text, level: settings.nodeHttp2 ? 'error' : 'note' };
      }
    },
  },
];

/** What may stand in an authority. */
const AUTHORITY = /^[\w.~!$&'()*+,;=:@%[\]-]*$/;

function* google(service: ConfigNode): Generator<{ readonly at: ConfigNode }> {
  const at = service.get('google_grpc');
  if (at.exists) yield { at };
}

function serviceClusters({ askers }: Subject): readonly Cluster[] {
  return [...new Set(askers.flatMap(({ cluster }) => cluster ?? []))];
}

/** Clusters that only loggers use. */
function loggerClusters(subject: Subject, settings: CheckSettings): readonly Cluster[] {
  const asked = new Set(serviceClusters(subject).map(({ name }) => name));
  const names = askingChains(subject)
    .flatMap((chain) => ownLoggers(subject, chain, settings))
    .flatMap((logger) => grpcServiceOf(logger.config.get('grpc_service')).clusterName ?? []);
  return [...new Set(names)].filter((name) => !asked.has(name)).flatMap((name) => subject.clusters.get(name) ?? []);
}

function speaksHttp2({ http, node }: Cluster): boolean {
  if (node.get('http2_protocol_options').exists) return true;
  if (http.get('explicit_http_config', 'http2_protocol_options').exists) return true;
  if (http.get('use_downstream_protocol_config', 'http2_protocol_options').exists) return true;
  // ALPN finds HTTP/2 by itself.
  if (http.get('auto_config').exists && node.get('transport_socket').exists) return true;
  return http.open;
}

/** Whether a retry policy leaves out hosts that failed; true where a patch leaves it open. */
export function hasPreviousHosts(policy: ConfigNode): boolean {
  const predicates = policy.get('retry_host_predicate');
  if (predicates.open) return true;
  return predicates.items().some((predicate) => {
    const type = predicate.get('typed_config', '@type').text() ?? '';
    return (
      type.endsWith('.PreviousHostsPredicate') || predicate.get('name').text()?.endsWith('previous_hosts') === true
    );
  });
}
