import { asPatch, itemsOf, member, type Tree, textOf } from '../tree.ts';
import { PatchedEnvoy, type PatchedPart, typedConfig } from './patched-envoy.ts';

/** What the `EnvoyFilter` resources among these add to Envoy; null when there are none. */
export function istioPatches(resources: readonly Tree[]): Tree | null {
  const filters = resources.filter((resource) => textOf(member(resource, 'kind')) === 'EnvoyFilter');
  const first = filters[0];
  if (first === undefined) return null;
  const envoy = new PatchedEnvoy(first.place);
  for (const filter of filters) {
    for (const patch of itemsOf(member(filter, 'spec', 'configPatches'))) addPatch(envoy, patch);
  }
  return envoy.tree();
}

function addPatch(envoy: PatchedEnvoy, patch: Tree): void {
  const value = member(patch, 'patch', 'value');
  if (value === null) return;
  const given = textOf(member(patch, 'patch', 'operation')) === 'MERGE' ? asPatch(value) : value;
  const target = textOf(member(patch, 'applyTo')) ?? '';
  const part = PARTS[target];
  if (part !== undefined) envoy.add(part, value);
  else if (target === 'HTTP_FILTER') envoy.addFilter(given);
  else if (target === 'HTTP_ROUTE') envoy.addRoute(value);
  else if (target === 'CLUSTER') envoy.addCluster(clusterName(patch, value), given);
  else if (target === 'NETWORK_FILTER') {
    const manager = typedConfig(value);
    if (manager !== null) envoy.add('manager', manager);
  }
}

const PARTS: Readonly<Record<string, PatchedPart>> = {
  LISTENER: 'listener',
  ROUTE_CONFIGURATION: 'routeConfig',
  VIRTUAL_HOST: 'virtualHost',
  BOOTSTRAP: 'bootstrap',
};

/** Istio names the cluster of a service by direction, port, subset and host. */
function clusterName(patch: Tree, value: Tree): string {
  const match = member(patch, 'match', 'cluster');
  const name = textOf(member(value, 'name')) ?? textOf(member(match, 'name'));
  if (name !== undefined) return name;
  const port = textOf(member(match, 'portNumber')) ?? '';
  return `outbound|${port}|${textOf(member(match, 'subset')) ?? ''}|${textOf(member(match, 'service')) ?? ''}`;
}
