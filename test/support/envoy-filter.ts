/** Applies an Istio EnvoyFilter to a bootstrap as istiod does: the operations, matches and merges that ours has. */

type Json = Record<string, unknown>;

interface Patch {
  readonly applyTo: string;
  readonly match: {
    readonly context: string;
    readonly listener?: {
      readonly filterChain: {
        readonly filter: { readonly name: string; readonly subFilter?: { readonly name: string } };
      };
    };
    readonly routeConfiguration?: { readonly vhost: { readonly route: { readonly name: string } } };
    readonly cluster?: { readonly name?: string; readonly service?: string; readonly portNumber?: number };
  };
  readonly patch: { readonly operation: string; readonly value: Json };
}

/** The parts of a bootstrap that patches reach. */
export interface PatchedBootstrap {
  readonly static_resources: {
    readonly listeners: { readonly filter_chains: { readonly filters: Filter[] }[] }[];
    readonly clusters: (Json & { readonly name: string })[];
  };
}

interface Filter {
  readonly name: string;
  readonly typed_config: Json;
}

interface Manager {
  http_filters: Filter[];
  readonly route_config: { readonly virtual_hosts: { routes: (Json & { readonly name: string })[] }[] };
}

/** Changes the bootstrap. Returns how many places each patch reached, in their order. */
export function applyEnvoyFilter(bootstrap: PatchedBootstrap, filter: Json): number[] {
  const { configPatches } = filter['spec'] as { configPatches: readonly Patch[] };
  return configPatches.map((patch) => {
    if (patch.match.context !== 'GATEWAY') throw new Error(`a patch for context ${patch.match.context}`);
    return apply(bootstrap, patch);
  });
}

function apply({ static_resources: parts }: PatchedBootstrap, patch: Patch): number {
  const { operation, value } = patch.patch;
  const filters = parts.listeners.flatMap((listener) => listener.filter_chains.flatMap((chain) => chain.filters));
  const managers = filters.filter((one) => one.name === patch.match.listener?.filterChain.filter.name);
  switch (`${patch.applyTo} ${operation}`) {
    case 'NETWORK_FILTER MERGE':
      return mergeAll(managers, value);
    case 'HTTP_FILTER MERGE':
      return mergeAll(
        managers.flatMap((one) => managerOf(one).http_filters.filter((inner) => inner.name === subFilter(patch))),
        value,
      );
    case 'HTTP_FILTER INSERT_BEFORE':
      return managers.filter((one) => {
        const manager = managerOf(one);
        const filters = withBefore(manager.http_filters, subFilter(patch), value as unknown as Filter);
        manager.http_filters = filters ?? manager.http_filters;
        return filters !== null;
      }).length;
    case 'HTTP_ROUTE MERGE':
      return mergeAll(
        hostsOf(filters).flatMap(({ routes }) => routes.filter(({ name }) => name === routeName(patch))),
        value,
      );
    case 'HTTP_ROUTE INSERT_BEFORE':
      return hostsOf(filters).filter((host) => {
        const routes = withBefore(host.routes, routeName(patch), value as Json & { name: string });
        host.routes = routes ?? host.routes;
        return routes !== null;
      }).length;
    case 'CLUSTER MERGE':
      return mergeAll(
        parts.clusters.filter((cluster) => isMatch(cluster.name, patch)),
        value,
      );
    default:
      throw new Error(`a patch ${patch.applyTo} ${operation}`);
  }
}

const managerOf = (filter: Filter): Manager => filter.typed_config as unknown as Manager;
const subFilter = (patch: Patch): string => patch.match.listener?.filterChain.filter.subFilter?.name ?? '';

const routeName = (patch: Patch): string | undefined => patch.match.routeConfiguration?.vhost.route.name;
const hostsOf = (filters: readonly Filter[]) =>
  filters.flatMap((filter) => managerOf(filter).route_config.virtual_hosts);

/** The list with a value before the first of that name; null where there is none. */
function withBefore<T extends { readonly name: string }>(
  list: readonly T[],
  name: string | undefined,
  value: T,
): T[] | null {
  const at = list.findIndex((one) => one.name === name);
  return at < 0 ? null : [...list.slice(0, at), value, ...list.slice(at)];
}

/** `outbound|PORT|SUBSET|HOST` */
function isMatch(name: string, { match: { cluster } }: Patch): boolean {
  if (cluster?.name !== undefined) return cluster.name === name;
  const [direction, port, , host] = name.split('|');
  return direction === 'outbound' && host === cluster?.service && Number(port) === cluster?.portNumber;
}

function mergeAll(targets: readonly object[], value: Json): number {
  for (const target of targets) merge(target as Json, value);
  return targets.length;
}

/** Fields of a map: an entry replaces the one of its key. */
const MAPS = new Set(['typed_per_filter_config', 'typed_extension_protocol_options', 'filter_metadata']);

/** Protobuf's merge: scalars replace, messages merge, lists are appended. */
function merge(target: Json, value: Json): void {
  for (const [key, given] of Object.entries(value)) {
    const old = target[key];
    if (Array.isArray(given)) target[key] = [...(Array.isArray(old) ? old : []), ...given];
    else if (MAPS.has(key)) target[key] = { ...(old as Json | undefined), ...(given as Json) };
    else if (isMessage(given) && isMessage(old)) merge(old, given);
    else target[key] = given;
  }
}

function isMessage(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
