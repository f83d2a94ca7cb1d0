import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '../child.ts';
import { freePort } from '../ports.ts';
import { until } from '../until.ts';
import { Door, type TestCluster, writeKubeconfig } from './cluster.ts';
import { NAMESPACE, type PodShape, statusOf } from './pod-log.ts';

const ADMIN = 'token-of-the-test';
const READER = 'token-of-the-reader';
/** What deploy/ grants the service. */
const ROLE = {
  kind: 'ClusterRole',
  metadata: { name: 'pods' },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }],
};

/** Why there is no real API server to test with; null when the environment names one. */
export function noControlPlane(): string | null {
  const { KUBE_APISERVER, ETCD } = process.env;
  return KUBE_APISERVER && ETCD ? null : 'KUBE_APISERVER and ETCD name no programs';
}

/** Runs etcd and the kube-apiserver that `ETCD` and `KUBE_APISERVER` name; no kubelet: the test plays it. */
export async function startControlPlane(): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-kube-'));
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(folder, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(folder, 'tokens.csv'), `${ADMIN},admin,1,"system:masters"\n${READER},reader,2\n`);
  const etcd = new Child(process.env['ETCD']!, [
    ...['--data-dir', join(folder, 'etcd'), '--unsafe-no-fsync'],
    ...[
      '--listen-client-urls',
      `http://127.0.0.1:${etcdPort}`,
      '--advertise-client-urls',
      `http://127.0.0.1:${etcdPort}`,
    ],
    ...['--listen-peer-urls', `http://127.0.0.1:${peerPort}`],
  ]);
  const startServer = () =>
    new Child(process.env['KUBE_APISERVER']!, [
      `--etcd-servers=http://127.0.0.1:${etcdPort}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${join(folder, 'certs')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${join(folder, 'sa.pub')}`,
      `--service-account-signing-key-file=${join(folder, 'sa.key')}`,
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--disable-admission-plugins=ServiceAccount',
      '--service-cluster-ip-range=10.0.0.0/24',
    ]);
  let server = startServer();
  const ask = (method: string, path: string, body?: unknown, type = 'application/json') =>
    call(port, method, path, body, type);
  const ready = () =>
    until(async () => (await ask('GET', '/readyz').catch(() => 0)) === 200, 'the API server is ready', 60_000);
  await ready();

  await must(ask('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } }));
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await must(ask('POST', `${rbac}/clusterroles`, ROLE));
  await must(
    ask('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: ROLE.metadata.name },
      subjects: [{ kind: 'User', name: 'reader' }],
    }),
  );
  const door = new Door(() => port);
  const ca = readFileSync(join(folder, 'certs', 'apiserver.crt'), 'utf8');
  const kubeconfig = writeKubeconfig(folder, await door.open(), ca, READER);
  const pods = `/api/v1/namespaces/${NAMESPACE}/pods`;
  const merge = 'application/merge-patch+json';
  const shapes = new Map<string, PodShape>();
  const setStatus = (pod: PodShape) =>
    must(ask('PATCH', `${pods}/${pod.name}/status`, { status: statusOf(pod) }, merge));
  return {
    kubeconfig,
    async create(pod) {
      const { name, labels, annotations, ports = {} } = pod;
      const containerPorts = Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort }));
      // A pod that stands on a node is ended by its kubelet, not at once.
      const spec = { nodeName: 'node', containers: [{ name: 'engine', image: 'engine', ports: containerPorts }] };
      await must(ask('POST', pods, { metadata: { name, labels, annotations }, spec }));
      shapes.set(name, pod);
      await setStatus(pod);
    },
    async update(name, change) {
      const pod = { ...shapes.get(name)!, ...change };
      shapes.set(name, pod);
      if (change.labels !== undefined)
        await must(ask('PATCH', `${pods}/${name}`, { metadata: { labels: pod.labels } }, merge));
      else await setStatus(pod);
    },
    terminate: (name) => must(ask('DELETE', `${pods}/${name}`)),
    remove: (name) => must(ask('DELETE', `${pods}/${name}`, { gracePeriodSeconds: 0 })),
    cut: () => door.cut(),
    away: (away) => door.shut(away),
    async expire() {
      // Its history lives in memory.
      await server.stop();
      server = startServer();
      await ready();
    },
    async close() {
      await door.close();
      await server.stop();
      await etcd.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function must(status: Promise<number>): Promise<void> {
  const code = await status;
  if (code >= 300) throw new Error(`the API server answered ${code}`);
}

function call(port: number, method: string, path: string, body: unknown, type: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${ADMIN}`,
      'content-type': type,
      'content-length': String(Buffer.byteLength(text)),
    };
    const out = request({ host: '127.0.0.1', port, method, path, headers, rejectUnauthorized: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    out.on('error', reject);
    out.end(text);
  });
}
