import { type ConfigNode, typeOf } from '../config-node.ts';

/** One way through a route configuration: a route, or one of the clusters that it splits its requests over. */
export interface Route {
  readonly node: ConfigNode;
  /** What may hold options for it, the most specific first: weighted cluster, route, virtual host, route configuration. */
  readonly levels: readonly ConfigNode[];
  readonly virtualHost: ConfigNode;
  /** Forwarding; does not exist for answers and redirects of Envoy itself. */
  readonly action: ConfigNode;
  /** Name of its cluster and where it is written; null when none is written. */
  readonly cluster: { readonly name: string; readonly at: ConfigNode } | null;
  /** A route before it takes the upgrades that would match it. */
  readonly upgradesTaken: boolean;
}

export function routesOf(routeConfig: ConfigNode): readonly Route[] {
  return routeConfig
    .get('virtual_hosts')
    .items()
    .flatMap((host) => routesOfHost(host, routeConfig));
}

function routesOfHost(virtualHost: ConfigNode, routeConfig: ConfigNode): readonly Route[] {
  let upgradesTaken = false;
  return virtualHost
    .get('routes')
    .items()
    .flatMap((node) => {
      const action = node.get('route');
      const common = { node, virtualHost, action, upgradesTaken };
      upgradesTaken ||= matchesUpgrades(node.get('match'));
      const weighted = action.get('weighted_clusters', 'clusters').items();
      if (weighted.length === 0) {
        return [{ ...common, levels: [node, virtualHost, routeConfig], cluster: clusterName(action.get('cluster')) }];
      }
      return weighted.map((part) => {
        return { ...common, levels: [part, node, virtualHost, routeConfig], cluster: clusterName(part.get('name')) };
      });
    });
}

function clusterName(at: ConfigNode): Route['cluster'] {
  const name = at.text();
  return name === undefined ? null : { name, at };
}

function matchesUpgrades(match: ConfigNode): boolean {
  if (match.get('connect_matcher').exists) return true;
  return match
    .get('headers')
    .items()
    .some((header) => header.get('name').text()?.toLowerCase() === 'upgrade');
}

/** What a level says about the filter of that name; does not exist when it says nothing. */
export function perFilterConfig(level: ConfigNode, filter: string): ConfigNode {
  return level.get('typed_per_filter_config', filter);
}

/** Whether requests of the route pass the filter; `off` is the filter's own `disabled`. */
export function passesFilter(route: Route, filter: string, off: boolean): boolean {
  for (const level of route.levels) {
    const config = perFilterConfig(level, filter);
    if (!config.exists) continue;
    if (config.get('disabled').bool(false) === true) return false;
    return true;
  }
  return !off;
}

/** The `overrides` of ext_proc that count for the route, the most specific first. */
export function overridesOf(route: Route, filter: string): readonly ConfigNode[] {
  return route.levels.flatMap((level) => {
    const config = perFilterConfig(level, filter);
    const inner = typeOf(config).endsWith('.FilterConfig') ? config.get('config') : config;
    const overrides = inner.get('overrides');
    return overrides.exists ? [overrides] : [];
  });
}

/** Where the levels of a route remove a header from requests or responses; undefined where they do not. */
export function removalOf(route: Route, field: string, header: string): ConfigNode | undefined {
  for (const level of route.levels) {
    const found = level
      .get(field)
      .items()
      .find((item) => item.text()?.toLowerCase() === header);
    if (found !== undefined) return found;
  }
  return undefined;
}
