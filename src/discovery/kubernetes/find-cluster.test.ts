import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { StandIn, TOKEN } from '../../../test/support/kube/stand-in.ts';
import { until } from '../../../test/support/until.ts';
import { findCluster } from './find-cluster.ts';
import { KubePodApi } from './kube-pod-api.ts';

const server = new StandIn();
let folder: string;
let port: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'smg-envoy-kubeconfig-'));
  port = await server.start();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  server.token = TOKEN;
  vi.stubEnv('KUBECONFIG', '');
  vi.stubEnv('HOME', join(folder, 'nobody'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A kubeconfig with one user of the stand-in, in `KUBECONFIG`. */
function write(user: object, cluster: object = {}, name = 'config'): string {
  const path = join(folder, name);
  const config = {
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'reader' } }],
    clusters: [
      {
        name: 'test',
        cluster: {
          server: `https://127.0.0.1:${port}`,
          'certificate-authority-data': base64(server.certificate.cert),
          ...cluster,
        },
      },
    ],
    users: [{ name: 'reader', user }],
  };
  writeFileSync(path, JSON.stringify(config));
  vi.stubEnv('KUBECONFIG', path);
  return path;
}

function apiOf(cluster = findCluster, answerMs = 5_000): KubePodApi {
  return new KubePodApi({ cluster, namespace: null, labelSelector: '', answerMs });
}

async function asks(api = apiOf()): Promise<string> {
  const answer = await api.list('', true, new AbortController().signal);
  return answer.kind === 'failed' ? answer.problem : answer.kind;
}

describe('who asks the API server', () => {
  it('a token', async () => {
    write({ token: TOKEN });
    expect(await asks()).toBe('page');
    write({ token: 'another' });
    expect(await asks()).toBe('the API server answered 401: Unauthorized');
  });

  it('a client certificate, from the kubeconfig or from files beside it', async () => {
    const { cert, key } = server.clientCertificate;
    write({ 'client-certificate-data': base64(cert), 'client-key-data': base64(key) });
    expect(await asks()).toBe('page');

    for (const [name, text] of Object.entries({ 'c.pem': cert, 'k.pem': key, 'ca.pem': server.certificate.cert }))
      writeFileSync(join(folder, name), text);
    write(
      { 'client-certificate': 'c.pem', 'client-key': 'k.pem' },
      { 'certificate-authority-data': undefined, 'certificate-authority': 'ca.pem' },
    );
    expect(await asks()).toBe('page');
  });

  it('a token file, read each time anew, which goes before a token', async () => {
    writeFileSync(join(folder, 'token'), `${TOKEN}\n`);
    write({ token: 'old', tokenFile: 'token' });
    const api = apiOf();
    expect(await asks(api)).toBe('page');

    server.token = 'next';
    writeFileSync(join(folder, 'token'), 'next\n');
    expect(await asks(api)).toBe('page');
  });

  it('the service account of a pod, whose token is replaced within a minute, or at once after a 401', async () => {
    const account = join(folder, 'var/run/secrets/kubernetes.io/serviceaccount');
    mkdirSync(account, { recursive: true });
    writeFileSync(join(account, 'ca.crt'), server.certificate.cert);
    writeFileSync(join(account, 'token'), TOKEN);
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '127.0.0.1');
    vi.stubEnv('KUBERNETES_SERVICE_PORT', String(port));
    const api = apiOf(() => {
      const config = new KubeConfig();
      config.loadFromCluster(folder);
      return config;
    });
    vi.useFakeTimers({ toFake: ['Date'] });
    expect(await asks(api)).toBe('page');

    writeFileSync(join(account, 'token'), 'next');
    expect(await asks(api)).toBe('page');
    vi.setSystemTime(Date.now() + 61_000);
    server.token = 'next';
    expect(await asks(api)).toBe('page');

    server.token = 'third';
    expect(await asks(api)).toMatch(/401/);
    writeFileSync(join(account, 'token'), 'third');
    expect(await asks(api)).toBe('page');
  });

  it('a program, run again when its credentials end or are refused', async () => {
    const runs = join(folder, 'runs');
    const program = join(folder, 'login');
    const prints = (token: string, expirationTimestamp: string) => {
      const credential = JSON.stringify({ kind: 'ExecCredential', status: { token, expirationTimestamp } });
      writeFileSync(program, `#!/bin/sh\necho "$1 $EXTRA" >> ${runs}\necho '${credential}'\n`);
    };
    const count = () => readFileSync(runs, 'utf8').trim().split('\n');
    prints(TOKEN, '2999-01-01T00:00:00Z');
    chmodSync(program, 0o755);
    write({ exec: { apiVersion: 'v1', command: program, args: ['get'], env: [{ name: 'EXTRA', value: 'more' }] } });
    const api = apiOf();
    expect([await asks(api), await asks(api)]).toEqual(['page', 'page']);
    expect(count()).toEqual(['get more']);

    server.token = 'next';
    prints('next', '2000-01-01T00:00:00Z');
    expect(await asks(api)).toMatch(/401/);
    expect(await asks(api)).toBe('page');
    const before = count().length;
    expect(await asks(api)).toBe('page');
    expect(count().length).toBeGreaterThan(before);
  });

  it('nobody while a program for credentials hangs, of which there is one', async () => {
    const pids = join(folder, 'pids');
    const program = join(folder, 'hangs');
    writeFileSync(program, `#!/bin/sh\necho $$ >> ${pids}\nexec sleep 60\n`);
    chmodSync(program, 0o755);
    write({ exec: { apiVersion: 'v1', command: program } });
    const api = apiOf(findCluster, 50);

    const late = 'the API server cannot be asked: no credentials in time';
    expect([await asks(api), await asks(api), await asks(api)]).toEqual([late, late, late]);
    await until(() => readFileSync(pids, 'utf8') !== '', 'the program runs');
    const started = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
    for (const pid of started) process.kill(pid);
    expect(started).toHaveLength(1);
  });
});

describe('the way to the API server', () => {
  it('goes through the proxy that the kubeconfig names, and through none of the environment', async () => {
    let tunnels = 0;
    const proxy = http.createServer().on('connect', (_, socket) => {
      tunnels += 1;
      const inside = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
      inside.pipe(socket).pipe(inside);
      for (const [one, other] of [
        [inside, socket],
        [socket, inside],
      ] as const) {
        one.on('error', () => one.destroy());
        one.on('close', () => other.destroy());
      }
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

    write({ token: TOKEN }, { 'proxy-url': url });
    expect([await asks(), tunnels]).toEqual(['page', 1]);
    const abort = new AbortController();
    const opened = new Promise<void>((resolve) => {
      void apiOf().watch('100', { opened: resolve, event: () => true }, abort.signal);
    });
    await opened;
    abort.abort();
    await until(async () => (await server.connections()) === 0, 'the tunnel is down');
    expect(tunnels).toBe(2);

    for (const name of ['HTTPS_PROXY', 'https_proxy']) vi.stubEnv(name, url);
    write({ token: TOKEN });
    expect([await asks(), tunnels]).toEqual(['page', 2]);
    await new Promise((resolve) => proxy.close(resolve));
  });

  it('checks the name of the server, or another one that the kubeconfig gives', async () => {
    write({ token: TOKEN }, { 'tls-server-name': 'localhost' });
    expect(await asks()).toBe('page');
    write({ token: TOKEN }, { 'tls-server-name': 'elsewhere' });
    expect(await asks()).toMatch(/elsewhere/);
    const nothing = { 'certificate-authority-data': undefined };
    write({ token: TOKEN }, { ...nothing, 'insecure-skip-tls-verify': true });
    expect(await asks()).toBe('page');
  });
});

describe('which cluster is meant', () => {
  const host = () => findCluster().getCurrentCluster()?.server;

  it('that of KUBECONFIG, which may be several files, else that of the user, else none', () => {
    expect(host).toThrow(/^no cluster: neither KUBECONFIG, /);
    mkdirSync(join(folder, '.kube'), { recursive: true });
    write({ token: 't' }, { server: 'https://own' }, '.kube/config');
    vi.stubEnv('KUBECONFIG', '');
    vi.stubEnv('HOME', folder);
    expect(host()).toBe('https://own');

    const first = write({ token: 't' }, { server: 'https://named' });
    expect(host()).toBe('https://named');
    const other = join(folder, 'other');
    writeFileSync(other, JSON.stringify({ users: [{ name: 'third', user: { tokenFile: '/t' } }] }));
    vi.stubEnv('KUBECONFIG', [first, other].join(delimiter));
    expect(host()).toBe('https://named');
  });

  it.each([
    ['is not there', 'none', null, /ENOENT/],
    ['is no YAML', 'bad', '{', /end of the stream|flow/],
    ['has no context', 'empty', '{}', /has no current context ""/],
    [
      'names no cluster',
      'lost',
      '{current-context: a, contexts: [{name: a, context: {cluster: b}}]}',
      /has no cluster/,
    ],
    [
      'names no user',
      'nobody',
      '{current-context: a, contexts: [{name: a, context: {cluster: b}}], clusters: [{name: b, cluster: {server: s}}]}',
      /has no user/,
    ],
  ])('names a kubeconfig that %s', (_, name, text, message) => {
    const path = join(folder, name);
    if (text !== null) writeFileSync(path, text);
    vi.stubEnv('KUBECONFIG', path);
    expect(findCluster).toThrow(message);
    expect(findCluster).toThrow(`kubeconfig ${path}: `);
  });
});
