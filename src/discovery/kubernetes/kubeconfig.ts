import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { messageOf } from '../../util/app-error.ts';
import { type ClusterAccess, type Credentials, NO_CREDENTIALS } from './cluster-access.ts';
import { ExecCredential, type ExecSpec } from './exec-credential.ts';
import { type Json, jsonObject, listOf, textOf } from './pod.ts';

/**
 * Access as the current context of a kubeconfig says.
 *
 * @throws Error that names the file and what is wrong with it
 */
export async function kubeconfigAccess(path: string): Promise<ClusterAccess> {
  const fail = (what: string): never => {
    throw new Error(`kubeconfig ${path}: ${what}`);
  };
  let config: Json;
  try {
    config = jsonObject(parse(await readFile(path, 'utf8')));
  } catch (error) {
    return fail(messageOf(error));
  }
  const folder = dirname(path);
  const name = textOf(config['current-context']);
  const context = named(config['contexts'], name, 'context') ?? fail(`has no current context ${JSON.stringify(name)}`);
  const cluster =
    named(config['clusters'], textOf(context['cluster']), 'cluster') ?? fail(`has no cluster for context ${name}`);
  const user = named(config['users'], textOf(context['user']), 'user') ?? {};
  if (cluster['proxy-url'] !== undefined) fail('proxy-url is not supported');
  for (const member of ['auth-provider', 'username'])
    if (user[member] !== undefined) fail(`${member} of a user is not supported; use a token, a certificate or exec`);

  const server = textOf(cluster['server']);
  if (!/^https?:\/\//.test(server)) fail(`has no server for context ${name}`);
  const caText = await embedded(cluster, 'certificate-authority', folder);
  const exec = user['exec'] === undefined ? null : new ExecCredential(readExec(jsonObject(user['exec'])), folder);
  return {
    server: new URL(server),
    ca: async () => caText,
    serverName: textOf(cluster['tls-server-name']) || null,
    verified: cluster['insecure-skip-tls-verify'] !== true,
    credentials: () => (exec === null ? staticCredentials(user, folder) : exec.get()),
    refused: () => exec?.drop(),
  };
}

/** Files are read for each request: who rotates them need not tell us. */
async function staticCredentials(user: Json, folder: string): Promise<Credentials> {
  const cert = await embedded(user, 'client-certificate', folder);
  const key = await embedded(user, 'client-key', folder);
  const file = textOf(user['tokenFile']);
  const token = file === '' ? textOf(user['token']) : (await readFile(resolve(folder, file), 'utf8')).trim();
  return { ...NO_CREDENTIALS, cert, key, token: token === '' ? null : token };
}

/** What `KEY-data` holds, else the file that `KEY` names; null without either. */
async function embedded(holder: Json, key: string, folder: string): Promise<string | null> {
  const data = textOf(holder[`${key}-data`]);
  if (data !== '') return Buffer.from(data, 'base64').toString('utf8');
  const file = textOf(holder[key]);
  return file === '' ? null : readFile(resolve(folder, file), 'utf8');
}

function named(list: unknown, name: string, member: string): Json | undefined {
  const entry = listOf(list).find((each) => each['name'] === name);
  return entry === undefined ? undefined : jsonObject(entry[member]);
}

function readExec(exec: Json): ExecSpec {
  const { command, args, env, apiVersion } = exec;
  return {
    command: textOf(command),
    args: Array.isArray(args) ? args.map(textOf) : [],
    env: Object.fromEntries(listOf(env).map(({ name, value }) => [textOf(name), textOf(value)])),
    apiVersion: textOf(apiVersion) || 'client.authentication.k8s.io/v1',
  };
}
