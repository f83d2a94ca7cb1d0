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
  readonly route_config: { readonly virtual_hosts: { readonly routes: (Json & { readonly name: string })[] }[] };
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
      return managers.filter((one) => insertBefore(managerOf(one), subFilter(patch), value as unknown as Filter))
        .length;
    case 'HTTP_ROUTE MERGE': {
      const name = patch.match.routeConfiguration?.vhost.route.name;
      const all = filters.flatMap((one) => managerOf(one).route_config.virtual_hosts.flatMap((host) => host.routes));
      return mergeAll(
        all.filter((route) => route.name === name),
        value,
      );
    }
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

function insertBefore(manager: Manager, name: string, value: Filter): boolean {
  const at = manager.http_filters.findIndex((filter) => filter.name === name);
  if (at < 0) return false;
  manager.http_filters = [...manager.http_filters.slice(0, at), value, ...manager.http_filters.slice(at)];
  return true;
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
