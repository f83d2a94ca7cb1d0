import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { messageOf } from '../../util/app-error.ts';
import { jsonObject, listOf, textOf } from './pod.ts';

/** What the client takes for a cluster when it finds none. */
const NOWHERE = 'http://localhost:8080';

/**
 * The cluster that is meant: that of the files in `KUBECONFIG`, else of the user's kubeconfig, else the one around us.
 *
 * @throws Error that names the files and what is wrong with them, or says that there is no cluster
 */
export function findCluster(): KubeConfig {
  const files = kubeconfigFiles();
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
    followTokenFiles(config, files);
    const problem = problemOf(config);
    if (problem !== null) throw new Error(problem);
  } catch (error) {
    throw new Error(`kubeconfig ${files.join(delimiter)}: ${messageOf(error)}`);
  }
  if (files.length === 0 && config.getCurrentCluster()?.server === NOWHERE)
    throw new Error('no cluster: neither KUBECONFIG, nor ~/.kube/config, nor the service account of a pod');
  return config;
}

/** The files that the client reads. */
function kubeconfigFiles(): readonly string[] {
  const { KUBECONFIG = '', HOME = '' } = process.env;
  if (KUBECONFIG !== '') return KUBECONFIG.split(delimiter).filter((file) => file !== '');
  const own = join(HOME, '.kube', 'config');
  return existsSync(own) ? [own] : [];
}

/**
 * `tokenFile` of users, which goes before `token`, read for each question. The client knows that member for service
 * accounts alone, and without it asks as nobody.
 */
function followTokenFiles(config: KubeConfig, files: readonly string[]): void {
  const paths = new Map<string, string>();
  for (const file of files) {
    for (const { name, user } of listOf(jsonObject(parse(readFileSync(file, 'utf8')))['users'])) {
      const tokenFile = textOf(jsonObject(user)['tokenFile']);
      if (tokenFile !== '') paths.set(textOf(name), resolve(dirname(file), tokenFile));
    }
  }
  config.users = config.users.map((user) => {
    const { token: _, ...others } = user;
    return paths.has(user.name) ? others : user;
  });
  config.addAuthenticator({
    isAuthProvider: ({ name }) => paths.has(name),
    async applyAuthentication({ name }, options) {
      const token = (await readFile(paths.get(name) ?? '', 'utf8')).trim();
      options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
    },
  });
}

/** The client would say less of these, and later. */
function problemOf(config: KubeConfig): string | null {
  const name = JSON.stringify(config.getCurrentContext() ?? '');
  if (config.getContextObject(config.getCurrentContext()) === null) return `has no current context ${name}`;
  if (config.getCurrentCluster() === null) return `has no cluster for context ${name}`;
  if (config.getCurrentUser() === null) return `has no user for context ${name}`;
  return null;
}
