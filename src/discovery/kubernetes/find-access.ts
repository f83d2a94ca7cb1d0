import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ClusterAccess } from './cluster-access.ts';
import { inCluster } from './in-cluster.ts';
import { kubeconfigAccess } from './kubeconfig.ts';

/**
 * The cluster that is meant: the kubeconfig that `KUBECONFIG` names, else that of the user, else the one around us.
 *
 * @throws Error that says what was looked for, or what is wrong with a kubeconfig
 */
export async function findAccess(
  env: Readonly<Record<string, string | undefined>>,
  home = homedir(),
): Promise<ClusterAccess> {
  const named = env['KUBECONFIG'];
  if (named !== undefined && named !== '') return kubeconfigAccess(named);
  const own = join(home, '.kube', 'config');
  if (existsSync(own)) return kubeconfigAccess(own);
  const inside = inCluster(env);
  if (inside !== null) return inside;
  throw new Error(`no cluster: neither KUBECONFIG, nor ${own}, nor a service account of a pod`);
}
