import { DESTINATION_NAMESPACE, ENVOY_MARK } from '../../names.ts';
import type { CheckSettings } from '../check-settings.ts';
import type { ConfigNode } from '../config-node.ts';
import type { Cluster } from './cluster.ts';
import type { HttpChain, HttpFilter } from './http-chain.ts';
import { isProbeRoute } from './probe-route.ts';
import { type ProcessingMode, processingModeOf } from './processing-mode.ts';
import { overridesOf, passesFilter, type Route } from './routes.ts';

/** A filter that asks the service for a pick. */
export interface Asker {
  readonly kind: 'ext_proc' | 'ext_authz';
  readonly chain: HttpChain;
  readonly filter: HttpFilter;
  readonly config: ConfigNode;
  readonly service: GrpcService;
  /** Cluster of the service; undefined when the files do not have it. */
  readonly cluster: Cluster | undefined;
  /** Routes whose requests it sees, those for probes apart. Empty where no routes are known. */
  readonly routes: readonly Route[];
  /** Routes for probes and the like whose requests it sees, too. */
  readonly probeRoutes: readonly Route[];
  /** Modes that are in use (ext_proc). */
  readonly modes: readonly ProcessingMode[];
  /** Clusters that its picks are for. */
  readonly workers: readonly WorkerCluster[];
}

/** The filter is off for each route, and the routes are known. */
export function asksNobody({ chain, filter, routes, probeRoutes }: Asker): boolean {
  return filter.off && chain.routes.length > 0 && routes.length + probeRoutes.length === 0;
}

/** A cluster of workers and the routes to it that are picked for. */
export interface WorkerCluster extends Cluster {
  readonly routes: readonly Route[];
}

/** A `core.v3.GrpcService`. */
export interface GrpcService {
  readonly node: ConfigNode;
  readonly clusterName: string | null;
  readonly initialMetadata: ReadonlyMap<string, string>;
}

export function grpcServiceOf(node: ConfigNode): GrpcService {
  const pairs = node.get('initial_metadata').items();
  return {
    node,
    clusterName: node.get('envoy_grpc', 'cluster_name').text() ?? null,
    initialMetadata: new Map(pairs.map((pair) => [pair.get('key').text() ?? '', pair.get('value').text() ?? ''])),
  };
}

export function modeOf(route: Route, filter: HttpFilter): ProcessingMode {
  const own = overridesOf(route, filter.name).map((overrides) => overrides.get('processing_mode'));
  return processingModeOf(own.find((mode) => mode.exists) ?? filter.config.get('processing_mode'));
}

type Clusters = ReadonlyMap<string, Cluster>;

export function findAskers(
  chains: readonly HttpChain[],
  clusters: Clusters,
  settings: CheckSettings,
): readonly Asker[] {
  const processors = candidates(chains, 'ext_proc', clusters);
  const own = likeliest(processors, settings);
  // A chain that is asked by ext_proc needs no ext_authz for it: that one is there to authorize.
  const others = chains.filter((chain) => !own.some((asker) => asker.chain === chain));
  const authorizers = candidates(others, 'ext_authz', clusters).filter((asker) => asksByAuthz(asker, settings));
  return [...own, ...authorizers];
}

function candidates(chains: readonly HttpChain[], kind: Asker['kind'], clusters: Clusters): Asker[] {
  return chains.flatMap((chain) =>
    chain.filters.filter((filter) => filter.kind === kind).map((filter) => askerOf(kind, chain, filter, clusters)),
  );
}

function askerOf(kind: Asker['kind'], chain: HttpChain, filter: HttpFilter, clusters: Clusters): Asker {
  const { config } = filter;
  const service = grpcServiceOf(config.get('grpc_service'));
  const seen = chain.routes.filter((route) => passesFilter(route, filter.name, filter.off));
  const probes = seen.filter(isProbeRoute);
  const routes = seen.filter((route) => !probes.includes(route));
  return {
    kind,
    chain,
    filter,
    config,
    service,
    cluster: service.clusterName === null ? undefined : clusters.get(service.clusterName),
    routes,
    probeRoutes: probes,
    modes: modesOf(routes, filter),
    workers: workersOf(routes, service, clusters),
  };
}

/** The mode of the filter and those of routes, each once. */
function modesOf(routes: readonly Route[], filter: HttpFilter): readonly ProcessingMode[] {
  const modes = routes.filter(({ action }) => action.exists).map((route) => modeOf(route, filter));
  if (modes.length === 0) return [processingModeOf(filter.config.get('processing_mode'))];
  return modes.filter((mode, index) => modes.findIndex((other) => samePlace(other.at, mode.at)) === index);
}

function samePlace(a: ConfigNode, b: ConfigNode): boolean {
  return a.exists === b.exists && a.tree === b.tree && a.place.file === b.place.file && a.place.line === b.place.line;
}

function workersOf(routes: readonly Route[], service: GrpcService, clusters: Clusters): readonly WorkerCluster[] {
  if (routes.every(({ cluster }) => cluster === null)) {
    // Without routes to go by, as in a patch: what takes picks is for workers.
    return [...clusters.values()]
      .filter((cluster) => cluster.overrideHost !== null || cluster.type === 'ORIGINAL_DST')
      .filter(({ name }) => name !== service.clusterName)
      .map((cluster) => ({ ...cluster, routes: [] }));
  }
  const names = new Set(routes.flatMap(({ cluster }) => cluster?.name ?? []));
  return [...names].flatMap((name) => {
    const cluster = clusters.get(name);
    if (cluster === undefined || cluster.isAggregate) return [];
    return [{ ...cluster, routes: routes.filter((route) => route.cluster?.name === name) }];
  });
}

/** Of several processors those that surely are the service, else those that look like it, else all. */
function likeliest(askers: readonly Asker[], settings: CheckSettings): readonly Asker[] {
  const sure = askers.filter((asker) => reachesService(asker, settings));
  if (sure.length > 0) return sure;
  const likely = askers.filter((asker) => receivesPicks(asker) || isNamedLikeService(asker));
  return likely.length > 0 ? likely : askers;
}

function reachesService({ service, cluster }: Asker, settings: CheckSettings): boolean {
  if (service.initialMetadata.has(ENVOY_MARK)) return true;
  return cluster?.endpoints?.some((address) => settings.pickers.includes(address)) === true;
}

function receivesPicks({ config }: Asker): boolean {
  const namespaces = config.get('metadata_options', 'receiving_namespaces', 'untyped').texts();
  return namespaces.includes(DESTINATION_NAMESPACE);
}

function isNamedLikeService({ filter, service, config }: Asker): boolean {
  const names = [filter.name, service.clusterName ?? '', config.get('stat_prefix').text() ?? ''];
  return names.some((name) => /smg|picker|(?<![a-z])epp(?![a-z])|inference/i.test(name));
}

/** Most ext_authz filters authorize; this one places when the service answers it, or when its answer places. */
function asksByAuthz(asker: Asker, settings: CheckSettings): boolean {
  if (!asker.config.get('grpc_service').exists) return false;
  if (reachesService(asker, settings) || isNamedLikeService(asker)) return true;
  return asker.workers.some(({ overrideHost }) => overrideHost !== null);
}
