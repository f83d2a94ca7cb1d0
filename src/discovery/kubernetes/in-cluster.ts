import { readFile } from 'node:fs/promises';
import type { ClusterAccess } from './cluster-access.ts';

/** Where every pod finds its service account. */
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Access from inside a pod: the address from the environment, the service account from its files. Null outside of one.
 * The token is read for each request, since the kubelet replaces it.
 */
export function inCluster(env: Readonly<Record<string, string | undefined>>, account = ACCOUNT): ClusterAccess | null {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) return null;
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    ca: () => readFile(`${account}/ca.crt`, 'utf8'),
    serverName: null,
    verified: true,
    async credentials() {
      return { token: (await readFile(`${account}/token`, 'utf8')).trim(), cert: null, key: null };
    },
    refused: () => {},
  };
}
