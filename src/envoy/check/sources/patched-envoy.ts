import { asPatch, listOf, member, merged, type Place, partOf, scalarOf, type Tree } from '../tree.ts';

const MANAGER = 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** What a patch can be merged into. */
export type PatchedPart = 'bootstrap' | 'listener' | 'manager' | 'routeConfig' | 'virtualHost';

/**
 * Gathers what patches add to the configuration of a gateway, as one bootstrap of which the rest is not known: a listener with
 * one connection manager and its routes, and clusters.
 */
export class PatchedEnvoy {
  readonly #place: Place;
  readonly #filters: Tree[] = [];
  readonly #routes: Tree[] = [];
  readonly #clusters = new Map<string, Tree>();
  readonly #parts = new Map<PatchedPart, Tree>();

  constructor(place: Place) {
    this.#place = place;
  }

  add(part: PatchedPart, value: Tree): void {
    this.#parts.set(part, merged(this.#parts.get(part) ?? null, asPatch(value)));
  }

  addFilter(filter: Tree): void {
    this.#filters.push(filter);
  }

  addRoute(route: Tree): void {
    this.#routes.push(asPatch(route));
  }

  addCluster(name: string, cluster: Tree): void {
    const named = partOf(cluster.place, { name: scalarOf(cluster.place, name) });
    const whole = cluster.kind === 'map' && !cluster.partial ? { ...named, partial: false } : named;
    this.#clusters.set(name, merged(this.#clusters.get(name) ?? null, merged(whole, cluster)));
  }

  tree(): Tree {
    const place = this.#place;
    const part = (members: Readonly<Record<string, Tree | null>>): Tree => partOf(place, members);
    const host = this.#merged('virtualHost', part({ routes: listOf(place, this.#routes) }));
    const routeConfig = this.#merged('routeConfig', part({ virtual_hosts: listOf(place, [host]) }));
    const filters = this.#filters.length === 0 ? null : listOf(place, this.#filters);
    const manager = this.#merged(
      'manager',
      part({ '@type': scalarOf(place, MANAGER), http_filters: filters, route_config: routeConfig }),
    );
    const chain = part({ filters: listOf(place, [part({ typed_config: manager })]) });
    const listener = this.#merged('listener', part({ filter_chains: listOf(place, [chain]) }));
    const resources = part({
      listeners: listOf(place, [listener]),
      clusters: listOf(place, [...this.#clusters.values()]),
    });
    return this.#merged('bootstrap', part({ static_resources: resources }));
  }

  #merged(name: PatchedPart, own: Tree): Tree {
    const patch = this.#parts.get(name);
    return patch === undefined ? own : merged(patch, own);
  }
}

/** The configuration of a filter, in either spelling. */
export function typedConfig(filter: Tree): Tree | null {
  return member(filter, 'typed_config') ?? member(filter, 'typedConfig');
}
