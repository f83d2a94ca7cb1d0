import { ENVOY_MARK, ENVOY_MARK_PERIODIC, PICK_ID_KEY, PICKER_NAMESPACE } from '../../names.ts';
import type { CheckSettings } from '../check-settings.ts';
import type { ConfigNode } from '../config-node.ts';
import { grpcServiceOf } from '../subject/asker.ts';
import type { HttpChain, Logger } from '../subject/http-chain.ts';
import type { Subject } from '../subject/subject.ts';
import type { Flaw, Trap } from '../trap.ts';
import { askingChains, ownLoggers, PICK_ID_NAMESPACES } from './askers.ts';

const MANAGER = 'the HTTP connection manager';
const COMMON = 'common_config of the access logger';
const LOGGER = `access_log_options: {access_log_flush_interval: 10s}
access_log:
  - name: envoy.access_loggers.http_grpc
    filter:
      metadata_filter:
        matcher: {filter: ${PICKER_NAMESPACE}, path: [{key: ${PICK_ID_KEY}}], value: {present_match: true}}
        match_if_key_not_found: false
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig
      common_config:
        log_name: picker
        transport_api_version: V3
        buffer_size_bytes: 0
        grpc_service: {envoy_grpc: {cluster_name: picker}}
        custom_tags: [{tag: worker, metadata: {kind: {host: {}}, metadata_key: {key: worker, path: [{key: id}]}}}]`;

/** How the service learns that a request has ended (envoy 9). */
export const ACCESS_LOG_TRAPS: readonly Trap[] = [
  {
    id: 'T47',
    level: 'error',
    title: 'the service does not learn when a request ends',
    consequence: 'Counts of requests in flight fall by age only, and load decides wrongly.',
    into: MANAGER,
    cure: LOGGER,
    // envoy 9
    remark: 'A stream that is held until the response has ended (response_trailer_mode: SEND) tells it, too.',
    *find(subject, settings) {
      for (const chain of askingChains(subject)) {
        if (chain.manager.get('access_log').open || ownLoggers(subject, chain, settings).length > 0) continue;
        const held = subject.askers.some(
          (asker) => asker.chain === chain && asker.modes.some(({ responseTrailers }) => responseTrailers === 'SEND'),
        );
        if (!held) yield { at: chain.manager.get('access_log') };
      }
    },
  },
  {
    id: 'T48',
    level: 'warning',
    title: 'access-log entries are held back',
    consequence: 'Requests count as running for up to a second after their end, and what is held is lost with Envoy.',
    into: COMMON,
    cure: 'buffer_size_bytes: 0',
    // envoy 9.1
    *find(subject, settings) {
      for (const { config } of loggers(subject, settings)) {
        const size = config.get('buffer_size_bytes');
        if ((size.number(16_384) ?? 0) !== 0) yield { at: size, found: `buffer_size_bytes ${size.number(16_384)}` };
      }
    },
  },
  {
    id: 'T49',
    level: 'error',
    title: 'replicas of the service do not each get the entries of their own picks',
    consequence: 'An entry goes to any of the replicas, and the one that made the pick keeps counting its request.',
    into: MANAGER,
    cure: '# one access logger for each replica, each to a cluster with this replica as its only endpoint',
    // envoy 9.3
    remark: 'Not with a shared pin store, through which replicas pass entries on.',
    *find(subject, settings) {
      if (settings.sharedStore) return;
      for (const chain of askingChains(subject)) yield* misdirected(subject, chain, settings);
    },
  },
  {
    id: 'T50',
    level: 'warning',
    title: 'long requests do not say that they still run',
    consequence: 'The service cannot tell a long answer from one whose end was lost.',
    into: MANAGER,
    cure: 'access_log_options: {access_log_flush_interval: 10s}',
    // envoy 9.4
    *find(subject, settings) {
      for (const chain of askingChains(subject)) {
        if (ownLoggers(subject, chain, settings).length === 0) continue;
        const options = chain.manager.get('access_log_options', 'access_log_flush_interval');
        const interval = options.exists ? options : chain.manager.get('access_log_flush_interval');
        const secs = interval.seconds(0);
        const promised = promisedSecs(subject, chain);
        if (secs === 0) yield { at: interval.exists ? interval : chain.manager.get('access_log') };
        else if (promised !== null && secs !== undefined && secs > promised) {
          const found = `${secs}s, while ${ENVOY_MARK} promises ${promised}s`;
          yield { at: interval, found, cure: `access_log_options: {access_log_flush_interval: ${promised}s}` };
        }
      }
    },
  },
  {
    id: 'T51',
    level: 'note',
    title: 'the service gets entries of requests that it did not pick',
    consequence: 'Entries of probes and of other routes, for nothing.',
    into: 'the access logger',
    cure: `filter:
  metadata_filter:
    matcher: {filter: ${PICKER_NAMESPACE}, path: [{key: ${PICK_ID_KEY}}], value: {present_match: true}}
    match_if_key_not_found: false`,
    // envoy 2.2
    *find(subject, settings) {
      for (const { filter, node } of loggers(subject, settings)) {
        if (!filter.open && !filtersPicks(filter)) yield { at: filter.exists ? filter : node };
      }
    },
  },
];

function loggers(subject: Subject, settings: CheckSettings): readonly Logger[] {
  return askingChains(subject).flatMap((chain) => ownLoggers(subject, chain, settings));
}

function* misdirected(subject: Subject, chain: HttpChain, settings: CheckSettings): Generator<Flaw> {
  const own = ownLoggers(subject, chain, settings);
  const covered = new Set<string>();
  let shared = false;
  for (const { config } of own) {
    const service = config.get('grpc_service');
    const name = grpcServiceOf(service).clusterName;
    const endpoints = name === null ? null : (subject.clusters.get(name)?.endpoints ?? null);
    if (endpoints === null) return;
    if (endpoints.length > 1) {
      shared = true;
      yield { at: service, found: `cluster ${name} has ${endpoints.length} endpoints` };
    }
    for (const endpoint of endpoints) covered.add(endpoint);
  }
  if (own.length === 0 || shared) return;
  const replicas = subject.askers
    .filter((asker) => asker.chain === chain)
    .flatMap(({ cluster }) => cluster?.endpoints ?? []);
  const left = replicas.filter((address) => !covered.has(address));
  if (left.length > 0) yield { at: chain.manager.get('access_log'), found: `no logger for ${left.join(', ')}` };
}

/** How often our mark promises an entry of a running request; null without it. */
function promisedSecs({ askers }: Subject, chain: HttpChain): number | null {
  for (const asker of askers) {
    const mark = asker.chain === chain ? asker.service.initialMetadata.get(ENVOY_MARK) : undefined;
    if (mark?.startsWith(ENVOY_MARK_PERIODIC) === true) return Number(mark.slice(ENVOY_MARK_PERIODIC.length));
  }
  return null;
}

function filtersPicks(filter: ConfigNode): boolean {
  const metadata = filter.get('metadata_filter');
  if (metadata.exists) {
    const strict = metadata.get('match_if_key_not_found').bool(true) === false;
    return strict && PICK_ID_NAMESPACES.includes(metadata.get('matcher', 'filter').text() ?? '');
  }
  return filter.get('and_filter', 'filters').items().some(filtersPicks);
}
