import { DESTINATION_KEY, DESTINATION_NAMESPACE } from '../../names.ts';
import { type ConfigNode, extensionOf } from '../config-node.ts';
import { matchesText } from '../string-match.ts';
import type { Asker, WorkerCluster } from '../subject/asker.ts';
import type { HttpChain } from '../subject/http-chain.ts';
import { removalOf } from '../subject/routes.ts';
import type { Trap } from '../trap.ts';
import { processors, readsPick, sentHeader, workerClusters } from './askers.ts';

const CLUSTER = 'the worker cluster';
const OVERRIDE_HOST = 'typed_config of override_host';
const SOURCE = `override_host_sources:
  - metadata: {key: ${DESTINATION_NAMESPACE}, path: [{key: ${DESTINATION_KEY}}]}`;
/** How the pick gets from the service to the choice of a worker (envoy 6). */
export const DESTINATION_TRAPS: readonly Trap[] = [
  {
    id: 'T20',
    level: 'error',
    title: 'the cluster of a picked route takes no pick',
    consequence: 'Envoy ignores the pick and chooses a worker itself.',
    into: CLUSTER,
    cure: `load_balancing_policy:
  policies:
    - typed_extension_config:
        name: envoy.load_balancing_policies.override_host
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost
          override_host_sources:
            - metadata: {key: ${DESTINATION_NAMESPACE}, path: [{key: ${DESTINATION_KEY}}]}
          fallback_policy:
            policies:
              - typed_extension_config:
                  name: envoy.load_balancing_policies.least_request
                  typed_config:
                    "@type": type.googleapis.com/envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest`,
    // envoy 6.1
    remark: 'Where the cluster has no workers of the service: switch the filter off on the routes to it, as in T73.',
    *find(subject) {
      for (const cluster of workerClusters(subject)) {
        if (cluster.overrideHost !== null || cluster.type === 'ORIGINAL_DST') continue;
        if (cluster.node.get('load_balancing_policy').open) continue;
        yield { at: cluster.node, found: cluster.name };
      }
    },
  },
  {
    id: 'T21',
    level: 'error',
    title: 'override_host reads something else than what the service writes',
    consequence: 'Envoy ignores the pick and chooses a worker itself.',
    into: OVERRIDE_HOST,
    cure: SOURCE,
    // envoy 6.2
    remark:
      'The service repeats its pick in a header only as `--destination-header` says, and never where its mark `x-smg-envoy` is set.',
    *find(subject, settings) {
      for (const asker of processors(subject)) {
        for (const { overrideHost } of asker.workers) {
          const sources = overrideHost?.sources ?? [];
          const first = sources[0];
          if (first === undefined || sources.some((source) => readsPick(source, asker, settings))) continue;
          yield { at: first.node, found: first.header === null ? 'other metadata' : `header ${first.header}` };
        }
      }
    },
  },
  {
    id: 'T22',
    level: 'error',
    title: 'the header with the pick is removed before a worker is chosen',
    consequence: 'The pick is lost, and nothing says so.',
    into: OVERRIDE_HOST,
    cure: SOURCE,
    // envoy 6.4
    *find(subject, settings) {
      for (const { asker, cluster } of pairs(subject.askers)) {
        const sources = cluster.overrideHost?.sources ?? [];
        if (sources.some((source) => source.metadata !== null && readsPick(source, asker, settings))) continue;
        for (const header of sources.flatMap((source) => source.header ?? [])) {
          const removals = cluster.routes.flatMap(
            (route) => removalOf(route, 'request_headers_to_remove', header) ?? [],
          );
          const first = removals[0];
          if (first !== undefined) yield { at: first, found: header };
        }
      }
    },
  },
  {
    id: 'T23',
    level: 'error',
    title: 'clients can choose the worker by a header',
    consequence: 'Whoever sends the header names the worker; with ORIGINAL_DST any address that Envoy can reach.',
    into: 'the HTTP connection manager',
    cure: `early_header_mutation_extensions:
  - name: strip
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation
      mutations: [{remove: ${DESTINATION_KEY}}]`,
    // envoy 6.4
    remark: 'A `header_mutation` filter before the service counts as a strip, too.',
    *find(subject) {
      for (const { asker, cluster } of pairs(subject.askers)) {
        for (const header of headersRead(cluster)) {
          if (isStripped(asker.chain, asker, header)) continue;
          yield { at: headerPlace(cluster), found: header };
        }
      }
    },
  },
  {
    id: 'T24',
    level: 'error',
    refused: true,
    title: 'override_host is incomplete',
    consequence: 'Envoy refuses the file.',
    into: OVERRIDE_HOST,
    cure: SOURCE,
    // envoy 6.2
    *find(subject) {
      for (const { overrideHost } of workerClusters(subject)) {
        if (overrideHost === null) continue;
        for (const { node, header, metadata } of overrideHost.sources) {
          if (header !== null && metadata !== null) yield { at: node, found: 'a source has header and metadata' };
        }
        const fallback = overrideHost.node.get('fallback_policy');
        if (fallback.absent) yield { at: overrideHost.node, found: 'it has no fallback_policy', cure: FALLBACK };
      }
    },
  },
  {
    id: 'T25',
    level: 'warning',
    title: 'workers get the header with the pick',
    consequence: 'It tells them addresses of each other.',
    into: 'the virtual host',
    cure: `request_headers_to_remove: [${DESTINATION_KEY}]`,
    // envoy 6.4
    *find(subject, settings) {
      for (const { asker, cluster } of pairs(subject.askers)) {
        const header = sentHeader(asker, settings);
        const sources = cluster.overrideHost?.sources ?? [];
        // Where the header itself is read, it cannot be removed.
        if (header === null || sources.length === 0 || headersRead(cluster).length > 0) continue;
        for (const route of cluster.routes) {
          if (removalOf(route, 'request_headers_to_remove', header) !== undefined) continue;
          if (route.levels.some((level) => level.get('request_headers_to_remove').open)) continue;
          yield { at: route.virtualHost, found: header, cure: `request_headers_to_remove: [${header}]` };
          break;
        }
      }
    },
  },
  {
    id: 'T26',
    level: 'warning',
    title: 'workers are reached through an ORIGINAL_DST cluster',
    consequence:
      'No other worker is tried when the picked one fails, none is found without a pick, and health does not count.',
    into: CLUSTER,
    cure: '# type: EDS or STATIC with the workers as endpoints, and a load_balancing_policy of override_host',
    // envoy 6.8
    *find(subject) {
      for (const cluster of workerClusters(subject)) {
        if (cluster.type === 'ORIGINAL_DST') yield { at: cluster.node.get('type'), found: cluster.name };
      }
    },
  },
  {
    id: 'T64',
    level: 'note',
    title: 'override_host_status',
    consequence: 'It has no effect on override_host: listed workers are tried whatever their health.',
    into: 'common_lb_config of the worker cluster',
    cure: '# delete override_host_status',
    // envoy 6.5
    *find(subject) {
      for (const { node, overrideHost } of workerClusters(subject)) {
        const status = node.get('common_lb_config', 'override_host_status');
        if (overrideHost !== null && status.exists) yield { at: status };
      }
    },
  },
];

const FALLBACK = `fallback_policy:
  policies:
    - typed_extension_config:
        name: envoy.load_balancing_policies.least_request
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest`;

function pairs(askers: readonly Asker[]): readonly { readonly asker: Asker; readonly cluster: WorkerCluster }[] {
  return askers.flatMap((asker) => asker.workers.map((cluster) => ({ asker, cluster })));
}

/** Headers that choose the host of the cluster, in lower case. */
function headersRead({ node, overrideHost, type }: WorkerCluster): readonly string[] {
  if (type !== 'ORIGINAL_DST') return (overrideHost?.sources ?? []).flatMap(({ header }) => header ?? []);
  const config = node.get('original_dst_lb_config');
  if (config.get('use_http_header').bool() !== true) return [];
  return [(config.get('http_header_name').text() ?? 'x-envoy-original-dst-host').toLowerCase()];
}

function headerPlace({ node, overrideHost }: WorkerCluster): ConfigNode {
  const source = overrideHost?.sources.find(({ header }) => header !== null);
  return source === undefined ? node.get('original_dst_lb_config') : source.node.get('header');
}

function isStripped(chain: HttpChain, asker: Asker, header: string): boolean {
  const early = chain.manager.get('early_header_mutation_extensions');
  if (early.open) return true;
  const extensions = early.items().map((item) => extensionOf(item).config.get('mutations'));
  const before = chain.filters.slice(0, chain.filters.indexOf(asker.filter));
  const filters = before
    .filter(({ type, off }) => type.endsWith('.http.header_mutation.v3.HeaderMutation') && !off)
    .map(({ config }) => config.get('mutations', 'request_mutations'));
  return [...extensions, ...filters].some((list) => list.items().some((mutation) => removes(mutation, header)));
}

function removes(mutation: ConfigNode, header: string): boolean {
  if (mutation.get('remove').text()?.toLowerCase() === header) return true;
  const matcher = mutation.get('remove_on_match', 'key_matcher');
  return matcher.exists && matchesText(matcher, header);
}
