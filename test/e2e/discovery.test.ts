import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SimWorker } from '../../src/sim/worker.ts';
import { startStandIn, type TestCluster } from '../support/kube/cluster.ts';
import { noControlPlane, startControlPlane } from '../support/kube/control-plane.ts';
import { NAMESPACE } from '../support/kube/pod-log.ts';
import { ask, noEnvoy, type Stack, startStack, until } from '../support/services.ts';
import { SteadyLoad } from '../support/steady-load.ts';

const WITHIN_MS = 1_000;
const FLAGS = [
  ...['--policy', 'round_robin', '--routing-key-override', '--log-level', 'info'],
  ...['--service-discovery', '--selector', 'app=engine', '--service-discovery-namespace', NAMESPACE],
];

describe.skipIf(noEnvoy())('workers are the pods of a cluster', () => {
  let cluster: TestCluster;
  let stack: Stack;
  let load: SteadyLoad | undefined;
  const pods = new Map<string, SimWorker>();

  beforeAll(async () => {
    cluster = await (noControlPlane() === null ? startControlPlane() : startStandIn());
    stack = await startStack({
      sim: { count: 4, firstTokenMs: 5 },
      known: 0,
      flags: FLAGS,
      env: { KUBECONFIG: cluster.kubeconfig },
    });
  });
  afterAll(async () => {
    await stack?.close();
    await cluster?.close();
  });
  afterEach(async () => {
    await load?.stop();
    load = undefined;
    cluster.away(false);
    for (const pod of [...pods.keys()]) await remove(pod);
    await until(async () => (await stack.endpoints()).size === 0, 'Envoy has no endpoints');
  });

  async function create(name: string, index: number): Promise<SimWorker> {
    const worker = stack.sim.workers[index]!;
    pods.set(name, worker);
    const annotations = { 'smg.ai/worker-ports': worker.address.split(':')[1]! };
    await cluster.create({ name, labels: { app: 'engine' }, annotations, ip: '127.0.0.1', ready: true });
    return worker;
  }
  async function remove(name: string): Promise<void> {
    pods.delete(name);
    await cluster.remove(name);
  }
  const seen = (worker: SimWorker, health: string | undefined) =>
    until(async () => (await stack.endpoints()).get(worker.address) === health, `${worker.name} is ${health}`);
  /** Milliseconds from a change to the moment at which Envoy shows it. */
  async function lag(worker: SimWorker, health: string | undefined, change: () => Promise<unknown>): Promise<number> {
    const before = performance.now();
    await change();
    await seen(worker, health);
    return performance.now() - before;
  }
  const readiness = async () => (await stack.service.admin('/readiness')).json;

  it('add, ready, not ready, terminate and end reach Envoy within a second each', async () => {
    await create('other', 1);
    const lags: Record<string, number> = {};
    const worker = stack.sim.workers[0]!;

    lags['add'] = await lag(worker, 'healthy', () => create('a', 0));
    lags['notReady'] = await lag(worker, 'unhealthy', () => cluster.update('a', { ready: false }));
    lags['ready'] = await lag(worker, 'healthy', () => cluster.update('a', { ready: true }));
    lags['terminate'] = await lag(worker, 'draining', () => cluster.terminate('a'));
    lags['end'] = await lag(worker, undefined, () => remove('a'));

    if (process.env['FIGURES']) process.stdout.write(`${JSON.stringify(lags)}\n`);
    expect(Math.max(...Object.values(lags))).toBeLessThan(WITHIN_MS);
  });

  it('a pod that is ready again has its conversations again', async () => {
    for (const index of [0, 1, 2]) await create(`pod-${index}`, index);
    for (const worker of pods.values()) await seen(worker, 'healthy');
    const turn = async () => {
      const headers = { 'content-type': 'application/json', 'x-smg-routing-key': 'conversation-1' };
      const body = { model: 'sim-model', messages: [{ role: 'user', content: 'hi' }] };
      const answer = await ask(stack.url, { path: '/v1/chat/completions', method: 'POST', headers, body });
      return [answer.status, answer.headers['x-sim-worker']];
    };
    const [status, first] = await turn();
    expect(status).toBe(200);
    const [pod, worker] = [...pods].find(([, { name }]) => name === first)!;

    await cluster.update(pod, { ready: false });
    await seen(worker, 'unhealthy');
    await cluster.update(pod, { ready: true });
    await seen(worker, 'healthy');

    for (let turns = 0; turns < 5; turns++) expect(await turn()).toEqual([200, first]);
  });

  it('a broken watch and a forgotten history lose no worker, double none, and fail no request', async () => {
    const first = await create('a', 0);
    const second = await create('b', 1);
    await seen(first, 'healthy');
    await seen(second, 'healthy');
    const running = new SteadyLoad(stack.url, 100);
    load = running;
    await until(() => running.answersOf(second.name) > 5, 'requests run');

    cluster.cut();
    const third = await create('c', 2);
    await seen(third, 'healthy');
    cluster.away(true);
    await cluster.terminate('a');
    await remove('a');
    const fourth = await create('d', 3);
    await cluster.expire();
    cluster.away(false);
    await seen(fourth, 'healthy');
    await seen(first, undefined);

    const { workers } = (await stack.service.admin('/workers')).json;
    const shown = workers.map(({ address, source }: Record<string, string>) => [address, source]);
    expect(shown.toSorted()).toEqual([second, third, fourth].map(({ address }) => [address, 'kubernetes']).toSorted());
    const metrics = await stack.service.metrics();
    expect(metrics.sum('smg_envoy_discovery_events_total', { event: 'expired' })).toBeGreaterThanOrEqual(1);
    expect(metrics.sum('smg_discovery_workers_discovered', { source: 'kubernetes' })).toBe(3);
    load = undefined;
    expect((await running.stop()).failures).toEqual([]);
  });

  it('an API server that is away takes no worker from Envoy, not even over a restart of the service', async () => {
    const worker = await create('a', 0);
    await seen(worker, 'healthy');
    cluster.away(true);
    await until(async () => (await readiness()).worker_sources?.[0].status === 'stale', 'it is stale');
    expect(await readiness()).toMatchObject({ status: 'ready', healthy_workers: 1 });

    await stack.service.kill();
    await stack.service.start();
    expect(await readiness()).toMatchObject({
      status: 'not_ready',
      reason: 'sources_not_read',
      worker_sources: [{ source: 'kubernetes', status: 'unread', problem: expect.stringContaining('API server') }],
    });
    expect((await stack.endpoints()).get(worker.address)).toBe('healthy');
    expect((await ask(stack.url, { path: '/v1/models' })).status).toBe(200);

    cluster.away(false);
    await until(async () => (await readiness()).status === 'ready', 'it is ready');
    expect((await stack.endpoints()).get(worker.address)).toBe('healthy');
  });
});
