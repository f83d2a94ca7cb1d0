import { parse } from 'yaml';

interface NamedCluster {
  name: string;
  load_assignment: { cluster_name: string };
}

interface Bootstrap {
  static_resources: { listeners: { name: string }[]; clusters: NamedCluster[] };
}

/**
 * One Envoy with the listeners of several of our configurations, each with clusters of its own. For configurations with static
 * workers. YAML, since JSON is YAML.
 */
export function joinedEnvoy(yamls: readonly string[]): string {
  const [first, ...more] = yamls.map(withOwnClusters);
  if (first === undefined) throw new Error('nothing to join');
  for (const { static_resources: resources } of more) {
    first.static_resources.listeners.push(...resources.listeners);
    first.static_resources.clusters.push(...resources.clusters);
  }
  return JSON.stringify(first);
}

function withOwnClusters(yaml: string, index: number): Bootstrap {
  const bootstrap: Bootstrap = parse(yaml);
  const resources = bootstrap.static_resources;
  let listeners = JSON.stringify(resources.listeners);
  for (const cluster of resources.clusters) {
    const own = `${cluster.name}-${index}`;
    for (const member of ['cluster', 'cluster_name']) {
      listeners = listeners.replaceAll(`"${member}":"${cluster.name}"`, `"${member}":"${own}"`);
    }
    cluster.name = own;
    cluster.load_assignment.cluster_name = own;
  }
  resources.listeners = JSON.parse(listeners);
  for (const listener of resources.listeners) listener.name += `-${index}`;
  return bootstrap;
}
