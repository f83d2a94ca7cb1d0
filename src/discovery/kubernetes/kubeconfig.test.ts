import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAccess } from './find-access.ts';
import { inCluster } from './in-cluster.ts';
import { kubeconfigAccess } from './kubeconfig.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'smg-envoy-kubeconfig-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CLUSTER = 'server: https://10.0.0.1:6443';

function write(cluster: string, user: string, context = 'context: {cluster: c, user: u}'): string {
  const path = join(folder, 'config');
  const text = `apiVersion: v1
current-context: here
contexts: [{name: other, context: {cluster: none, user: none}}, {name: here, ${context}}]
clusters:
  - name: c
    cluster: {${cluster}}
users:
  - name: u
    user: {${user}}
`;
  writeFileSync(path, text);
  return path;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('access by a kubeconfig', () => {
  it('reads the cluster and the user of the current context', async () => {
    const access = await kubeconfigAccess(
      write(
        `${CLUSTER}, certificate-authority-data: ${base64('CA')}, tls-server-name: kube`,
        `client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')}`,
      ),
    );

    expect(access.server.href).toBe('https://10.0.0.1:6443/');
    expect([await access.ca(), access.serverName, access.verified]).toEqual(['CA', 'kube', true]);
    expect(await access.credentials()).toEqual({ token: null, cert: 'CERT', key: 'KEY' });
  });

  it('reads files beside the kubeconfig, a token each time anew', async () => {
    for (const name of ['ca', 'token']) writeFileSync(join(folder, name), `${name} 1\n`);
    const access = await kubeconfigAccess(write(`${CLUSTER}, certificate-authority: ca`, 'tokenFile: token'));
    expect(await access.ca()).toBe('ca 1\n');
    expect(await access.credentials()).toEqual({ token: 'token 1', cert: null, key: null });

    writeFileSync(join(folder, 'token'), 'token 2\n');
    expect((await access.credentials()).token).toBe('token 2');
  });

  it('takes a plain token, and a server that is not checked only when told', async () => {
    const access = await kubeconfigAccess(write(`${CLUSTER}, insecure-skip-tls-verify: true`, 'token: secret'));
    expect([access.verified, (await access.credentials()).token]).toEqual([false, 'secret']);
  });

  it('asks a program for credentials, until they end or are refused', async () => {
    const program = join(folder, 'login');
    const runs = join(folder, 'runs');
    const answer = (expires: string) =>
      writeFileSync(
        program,
        `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO $1 $EXTRA" >> ${runs}
echo '{"kind":"ExecCredential","status":{"token":"T","expirationTimestamp":"${expires}"}}'
`,
      );
    answer('2999-01-01T00:00:00Z');
    chmodSync(program, 0o755);
    const user = 'exec: {apiVersion: v9, command: ./login, args: [get], env: [{name: EXTRA, value: more}]}';
    const access = await kubeconfigAccess(write(CLUSTER, user));
    const count = async () => {
      const { readFile } = await import('node:fs/promises');
      return (await readFile(runs, 'utf8')).trim().split('\n');
    };

    expect((await access.credentials()).token).toBe('T');
    await access.credentials();
    expect(await count()).toEqual([
      '{"apiVersion":"v9","kind":"ExecCredential","spec":{"interactive":false}} get more',
    ]);

    access.refused();
    answer('2000-01-01T00:00:00Z');
    await access.credentials();
    await access.credentials();
    expect(await count()).toHaveLength(3);
  });

  it.each([
    ['no current context', () => write(CLUSTER, 'token: t').replace(/config$/, 'none'), /ENOENT/],
    ['an unknown cluster', () => write(CLUSTER, 'token: t', 'context: {cluster: x, user: u}'), /has no cluster/],
    ['no server', () => write('', 'token: t'), /has no server/],
    ['a proxy', () => write(`${CLUSTER}, proxy-url: http://p`, 'token: t'), /proxy-url is not supported/],
    ['a plug-in of old', () => write(CLUSTER, 'auth-provider: {name: oidc}'), /auth-provider .* not supported/],
    ['a password', () => write(CLUSTER, 'username: u, password: p'), /username .* not supported/],
  ])('refuses %s and names the file', async (_, make, message) => {
    await expect(kubeconfigAccess(make())).rejects.toThrow(message);
    await expect(kubeconfigAccess(make())).rejects.toThrow(/^kubeconfig .*(config|none): /);
  });
});

describe('which cluster is meant', () => {
  const INSIDE = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

  it('KUBECONFIG goes first, then that of the user, then the cluster around us', async () => {
    const home = join(folder, 'home');
    const path = write('server: https://named', 'token: t');
    const where = async (env: Record<string, string>) => (await findAccess(env, home)).server.host;

    expect(await where({ ...INSIDE, KUBECONFIG: path })).toBe('named');
    expect(await where(INSIDE)).toBe('10.0.0.1');
    mkdirSync(join(home, '.kube'), { recursive: true });
    writeFileSync(join(home, '.kube', 'config'), 'current-context: x');
    await expect(where(INSIDE)).rejects.toThrow(/has no current context "x"/);
    await expect(findAccess({}, join(folder, 'nobody'))).rejects.toThrow(/^no cluster: /);
  });

  it('reads the service account of the pod, the token each time anew', async () => {
    const account = join(folder, 'account');
    mkdirSync(account);
    writeFileSync(join(account, 'ca.crt'), 'CA');
    writeFileSync(join(account, 'token'), 'one\n');
    const access = inCluster({ ...INSIDE, KUBERNETES_SERVICE_HOST: 'fd00::1' }, account)!;

    expect(access.server.href).toBe('https://[fd00::1]/');
    expect([await access.ca(), (await access.credentials()).token]).toEqual(['CA', 'one']);
    writeFileSync(join(account, 'token'), 'two\n');
    expect((await access.credentials()).token).toBe('two');
  });

  it('is outside of a cluster without its variables', () => {
    expect(inCluster({})).toBeNull();
  });
});
