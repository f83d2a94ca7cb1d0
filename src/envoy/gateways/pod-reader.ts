import { type Manifest, manifest } from './manifest.ts';
import type { PodDiscovery, Reference } from './options.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** What discovery of pods needs: to list and watch them, in one namespace or in all. */
export function podReader(account: Reference, { namespace }: PodDiscovery): readonly Manifest[] {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }];
  const subjects = [{ kind: 'ServiceAccount', name: account.name, namespace: account.namespace }];
  const role = namespace === null ? 'ClusterRole' : 'Role';
  const at = { namespace: namespace ?? '', name: account.name };
  const about = 'Lets the service find worker pods.';
  const roleRef = { apiGroup: GROUP, kind: role, name: account.name };
  const made = [
    manifest(`${GROUP}/v1`, role, at, about, { rules }),
    manifest(`${GROUP}/v1`, `${role}Binding`, at, about, { roleRef, subjects }),
  ];
  return namespace === null ? made.map(clusterWide) : made;
}

/** Objects of the whole cluster have no namespace. */
function clusterWide(one: Manifest): Manifest {
  const { namespace: _, ...metadata } = one['metadata'] as Readonly<Record<string, unknown>>; // of `manifest` above
  return { ...one, metadata };
}
