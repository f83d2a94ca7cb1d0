import type { CheckSettings } from '../check-settings.ts';
import type { ConfigNode } from '../config-node.ts';
import type { NotJudged } from '../not-judged.ts';
import type { Sources } from '../sources/sources.ts';
import type { Tree } from '../tree.ts';
import { type Asker, findAskers } from './asker.ts';
import { type Cluster, clusterOf } from './cluster.ts';
import { type HttpChain, httpChainOf } from './http-chain.ts';
import { managersOf, routeConfigsOf } from './managers.ts';

/** What the given files say about the way from a client through the service to a worker. */
export interface Subject {
  /** Whole configurations, or what patches add to one. */
  readonly bootstraps: readonly ConfigNode[];
  readonly chains: readonly HttpChain[];
  readonly clusters: ReadonlyMap<string, Cluster>;
  /** Filters that ask the service. */
  readonly askers: readonly Asker[];
  /** Everything that was read. */
  readonly trees: readonly Tree[];
  readonly notJudged: readonly NotJudged[];
}

export function subjectOf(sources: Sources, settings: CheckSettings): Subject {
  const { bootstraps, trees } = sources;
  const clusters = new Map<string, Cluster>();
  for (const node of sources.clusters) {
    const cluster = clusterOf(node);
    if (!clusters.has(cluster.name)) clusters.set(cluster.name, cluster);
  }
  const notJudged: NotJudged[] = [...sources.notJudged];
  const chains = sources.listeners.flatMap((listener) =>
    managersOf(listener).map((manager) => {
      const { configs, missing } = routeConfigsOf(manager, sources.routeConfigs);
      if (missing !== null) notJudged.push(missing);
      return httpChainOf(manager, listener, configs);
    }),
  );
  const askers = findAskers(chains, clusters, settings);
  for (const asker of askers) notJudged.push(...unknownClusters(asker, clusters));
  return { bootstraps, chains, clusters, askers, trees, notJudged };
}

/** Clusters that are named and not there, since they come from a control plane, or stand for others. */
function unknownClusters(asker: Asker, clusters: ReadonlyMap<string, Cluster>): NotJudged[] {
  const open = new Map<string, NotJudged>();
  const look = (name: string, at: ConfigNode, what: string): void => {
    const cluster = clusters.get(name);
    if (open.has(name) || cluster?.isAggregate === false) return;
    const why = cluster === undefined ? 'is in none of the files' : 'is an aggregate of others';
    open.set(name, { place: at.place, reason: `cluster ${name} (${what}) ${why}` });
  };
  const { clusterName, node } = asker.service;
  if (clusterName !== null) look(clusterName, node, 'the service');
  for (const { cluster } of asker.routes) if (cluster !== null) look(cluster.name, cluster.at, 'workers');
  return [...open.values()];
}
