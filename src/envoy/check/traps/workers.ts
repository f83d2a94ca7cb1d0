import type { ConfigNode } from '../config-node.ts';
import type { WorkerCluster } from '../subject/asker.ts';
import { breakersOf } from '../subject/cluster.ts';
import type { Trap } from '../trap.ts';
import { retryPolicyOf, workerClusters } from './askers.ts';
import { DEFAULT_THRESHOLD } from './picker-cluster.ts';

const CLUSTER = 'the worker cluster';
const DEFAULT_RETRIES = 3;
/** uvicorn closes a connection that was idle for this long (envoy 2.2). */
const KEEP_ALIVE_SECS = 5;
/** Envoy's own default. */
const LONGEST_FETCH_SECS = 15;

/** The cluster of the workers itself. */
export const WORKER_TRAPS: readonly Trap[] = [
  {
    id: 'T41',
    level: 'warning',
    title: 'circuit breakers of the workers are at their defaults',
    consequence: 'Under load requests get 503 with the detail overflow, and are not retried.',
    into: CLUSTER,
    cure: `circuit_breakers:
  thresholds:
    - {max_connections: 100000, max_pending_requests: 100000, max_requests: 100000, max_retries: 100000}`,
    // envoy 2.2
    *find(subject) {
      for (const cluster of workerClusters(subject)) {
        const { node } = cluster;
        const breakers = breakersOf(node);
        const low = ['max_connections', 'max_pending_requests', 'max_requests'].filter((name) =>
          isLow(breakers.get(name), DEFAULT_THRESHOLD),
        );
        const budget = breakers.get('retry_budget').exists || isNeverRetried(cluster);
        if (!budget && isLow(breakers.get('max_retries'), DEFAULT_RETRIES)) low.push('max_retries');
        if (low.length > 0) yield { at: breakers, found: low.join(', ') };
      }
    },
  },
  {
    id: 'T63',
    level: 'warning',
    title: 'Envoy does not know which workers are healthy',
    consequence: 'Requests that it places itself go to dead workers, too.',
    into: CLUSTER,
    cure: `health_checks:
  - timeout: 5s
    interval: 60s
    unhealthy_threshold: 3
    healthy_threshold: 2
    http_health_check: {path: /health}`,
    // envoy 6.5
    remark: 'Endpoints by EDS bring their health along. Not with `--disable-health-check`.',
    *find(subject, { healthChecks }) {
      if (!healthChecks) return;
      for (const { node, type, name } of workerClusters(subject)) {
        if (type === 'EDS' || type === 'ORIGINAL_DST') continue;
        if (node.get('health_checks').absent && node.get('outlier_detection').absent) yield { at: node, found: name };
      }
    },
  },
  {
    id: 'T65',
    level: 'warning',
    title: 'Envoy waits too long for its workers at start',
    consequence: 'It serves nothing while the service is away.',
    into: 'eds_config of the worker cluster',
    cure: 'initial_fetch_timeout: 5s',
    // envoy 8.2
    *find(subject) {
      for (const { node } of workerClusters(subject)) {
        const timeout = node.get('eds_cluster_config', 'eds_config', 'initial_fetch_timeout');
        const secs = timeout.seconds();
        if (secs !== undefined && (secs === 0 || secs > LONGEST_FETCH_SECS)) yield { at: timeout, found: `${secs}s` };
      }
    },
  },
  {
    id: 'T66',
    level: 'warning',
    title: 'the file with the endpoints is not there',
    consequence: 'Envoy does not start without it, and notices only a file that is replaced by renaming another one.',
    into: 'eds_config of the worker cluster',
    cure: '# make the file before Envoy starts, and replace it by rename; or ads: {} to get endpoints from the service',
    // envoy 8.4
    remark: 'Judged by the files of the machine that runs `check`; how the file is replaced cannot be seen.',
    *find(subject, { fileExists }) {
      for (const { node } of workerClusters(subject)) {
        const config = node.get('eds_cluster_config', 'eds_config');
        const source = config.get('path_config_source', 'path');
        const at = source.exists ? source : config.get('path');
        const path = at.text();
        if (path !== undefined && !fileExists(path)) yield { at, found: path };
      }
    },
  },
  {
    id: 'T77',
    level: 'warning',
    title: 'Envoy keeps idle connections longer than workers do',
    consequence: 'A request that meets a connection which its worker is closing gets 503.',
    into: 'HttpProtocolOptions of the worker cluster',
    cure: 'common_http_protocol_options: {idle_timeout: 4s}',
    // envoy 2.2
    *find(subject) {
      for (const { node, http } of workerClusters(subject)) {
        const options = http.get('common_http_protocol_options');
        const given = options.exists ? options : node.get('common_http_protocol_options');
        const at = (given.exists ? given : options).get('idle_timeout');
        if (given.get('max_requests_per_connection').number() === 1) continue;
        const secs = at.seconds();
        if (at.absent) yield { at: http.exists ? at : node, found: 'no idle_timeout' };
        else if (secs !== undefined && (secs === 0 || secs >= KEEP_ALIVE_SECS)) yield { at, found: `${secs}s` };
      }
    },
  },
];

function isNeverRetried(cluster: WorkerCluster): boolean {
  return cluster.routes.length > 0 && cluster.routes.every((route) => retryPolicyOf(route, cluster).absent);
}

function isLow(threshold: ConfigNode, standard: number): boolean {
  return (threshold.number(standard) ?? Number.POSITIVE_INFINITY) <= standard;
}
