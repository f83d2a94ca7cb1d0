/** Look-ups that several traps share. */
import { AUTHZ_NAMESPACE, DESTINATION_KEY, DESTINATION_NAMESPACE, ENVOY_MARK, PICKER_NAMESPACE } from '../../names.ts';
import type { CheckSettings } from '../check-settings.ts';
import type { ConfigNode } from '../config-node.ts';
import type { Asker, WorkerCluster } from '../subject/asker.ts';
import { grpcServiceOf } from '../subject/asker.ts';
import type { Cluster, OverrideSource } from '../subject/cluster.ts';
import type { HttpChain, Logger } from '../subject/http-chain.ts';
import { isFullDuplex } from '../subject/processing-mode.ts';
import type { Route } from '../subject/routes.ts';
import type { Subject } from '../subject/subject.ts';

/** The ext_proc filters that ask the service. */
export function processors({ askers }: Subject): readonly Asker[] {
  return askers.filter(({ kind }) => kind === 'ext_proc');
}

/** The ext_authz filters that ask the service. */
export function authorizers({ askers }: Subject): readonly Asker[] {
  return askers.filter(({ kind }) => kind === 'ext_authz');
}

/** Chains with a filter that asks the service, each once. */
export function askingChains({ askers }: Subject): readonly HttpChain[] {
  return [...new Set(askers.map(({ chain }) => chain))];
}

/** Clusters that picks are for, each once. */
export function workerClusters({ askers }: Subject): readonly WorkerCluster[] {
  return [...new Map(askers.flatMap(({ workers }) => workers).map((cluster) => [cluster.name, cluster])).values()];
}

/** Loggers of the chain that write to the service. */
export function ownLoggers(subject: Subject, chain: HttpChain, settings: CheckSettings): readonly Logger[] {
  const services = subject.askers.filter((asker) => asker.chain === chain);
  const addresses = new Set([...settings.pickers, ...services.flatMap(({ cluster }) => cluster?.endpoints ?? [])]);
  return chain.loggers.filter((logger) => {
    const { clusterName } = grpcServiceOf(logger.config.get('grpc_service'));
    if (clusterName === null) return services.some(({ service }) => service.node.get('google_grpc').exists);
    if (services.some(({ service }) => service.clusterName === clusterName)) return true;
    const cluster = subject.clusters.get(clusterName);
    // Where no file has the cluster of the service, another one that is not there may lead to it, too.
    if (cluster === undefined) return services.every((asker) => asker.cluster === undefined);
    return cluster.endpoints?.some((address) => addresses.has(address)) ?? false;
  });
}

/** Whether a source reads what the service writes. */
export function readsPick(source: OverrideSource, asker: Asker, settings: CheckSettings): boolean {
  const { metadata, header } = source;
  if (metadata !== null) {
    return (
      metadata.namespace === pickNamespace(asker) && metadata.path.length === 1 && metadata.path[0] === DESTINATION_KEY
    );
  }
  return header !== null && header === sentHeader(asker, settings);
}

/** The retry policy of the route, else of its virtual host, else of the cluster; known to be unset where all of them are. */
export function retryPolicyOf(route: Route, cluster: Cluster | undefined): ConfigNode {
  const own = route.action.get('retry_policy');
  const others = [
    route.virtualHost.get('retry_policy'),
    ...(cluster === undefined ? [] : [cluster.http.get('retry_policy')]),
  ];
  return own.exists ? own : (others.find(({ exists }) => exists) ?? own);
}

/** Metadata namespace of the pick: that of ext_authz is fixed (envoy 11.2). */
function pickNamespace({ kind }: Asker): string {
  return kind === 'ext_proc' ? DESTINATION_NAMESPACE : AUTHZ_NAMESPACE;
}

/** Metadata namespaces of pick ids. */
export const PICK_ID_NAMESPACES: readonly string[] = [PICKER_NAMESPACE, AUTHZ_NAMESPACE];

/**
 * The header that repeats the pick; null when there is none: the service sends none to an Envoy that our own mark is set in,
 * and by itself only where bodies are streamed both ways (decisions 21).
 */
export function sentHeader(asker: Asker, { destinationHeader }: CheckSettings): string | null {
  if (destinationHeader === 'off' || asker.service.initialMetadata.has(ENVOY_MARK)) return null;
  if (destinationHeader !== 'auto') return destinationHeader;
  return asker.kind === 'ext_authz' || asker.modes.some(isFullDuplex) ? DESTINATION_KEY : null;
}

/** Namespaces of dynamic metadata that the filter has to take from the service. */
export function neededNamespaces(subject: Subject, asker: Asker, settings: CheckSettings): readonly string[] {
  const byHeader = asker.workers.length > 0 && asker.workers.every(takesHeaderOnly);
  const logged = ownLoggers(subject, asker.chain, settings).length > 0;
  return [...(byHeader ? [] : [DESTINATION_NAMESPACE]), ...(logged ? [PICKER_NAMESPACE] : [])];
}

function takesHeaderOnly(cluster: WorkerCluster): boolean {
  if (cluster.type === 'ORIGINAL_DST') return !cluster.node.get('original_dst_lb_config', 'metadata_key').exists;
  const sources = cluster.overrideHost?.sources ?? [];
  return sources.length > 0 && sources.every(({ metadata }) => metadata === null);
}
