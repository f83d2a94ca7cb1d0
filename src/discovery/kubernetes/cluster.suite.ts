import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DiscoveryLog } from '../../../test/support/discovery-log.ts';
import { clusterOf, type TestCluster } from '../../../test/support/kube/cluster.ts';
import { NAMESPACE } from '../../../test/support/kube/pod-log.ts';
import { until } from '../../../test/support/until.ts';
import { Registry } from '../../workers/registry.ts';
import { KubePodApi } from './kube-pod-api.ts';
import { KubernetesSource } from './kubernetes-source.ts';
import { commonLabels, readSelector } from './selector.ts';

const LABELS = { app: 'engine' };
const WITHIN_MS = 1_000;

/** What holds with any API server. One cluster serves all cases; each begins without pods. */
export function clusterSuite(name: string, start: () => Promise<TestCluster>): void {
  describe(`pods of ${name}`, () => {
    let cluster: TestCluster;
    const pods = new Set<string>();
    const closers: (() => void)[] = [];
    beforeAll(async () => {
      cluster = await start();
    }, 90_000);
    afterAll(() => cluster?.close());
    afterEach(async () => {
      for (const close of closers.splice(0)) close();
      cluster.away(false);
      for (const pod of pods) await cluster.remove(pod);
      pods.clear();
    });

    const create: TestCluster['create'] = async (pod) => {
      pods.add(pod.name);
      await cluster.create({ labels: LABELS, ip: '10.1.0.1', ready: true, ...pod });
    };
    const remove = async (pod: string) => {
      pods.delete(pod);
      await cluster.remove(pod);
    };
    const ips = (count: number) => Array.from({ length: count }, (_, index) => `10.1.0.${index + 1}`);

    function follow(options: { pagePods?: number; namespace?: string | null } = {}) {
      const registry = new Registry();
      const log = new DiscoveryLog();
      const selector = readSelector(['app=engine']);
      const source = new KubernetesSource({
        rules: { roles: [{ workerType: 'regular', selector }], port: 8000, modelIdFrom: null, withNamespace: false },
        sink: registry,
        observer: log,
        api: new KubePodApi({
          cluster: () => clusterOf(cluster.kubeconfig),
          namespace: NAMESPACE,
          labelSelector: commonLabels([selector]),
          ...options,
        }),
      });
      closers.push(() => {
        source.close();
        registry.close();
      });
      /** Workers by address: `not_ready` when their pod says so, whatever probes would say. */
      const fleet = (): Record<string, string> => {
        const instances = [...registry.instances];
        const state = (at: (typeof instances)[number]) => {
          if (at.drain !== null) return 'leaving';
          return at.unready ? 'unready' : 'up';
        };
        return Object.fromEntries(instances.map((at) => [at.id.slice('http://'.length), state(at)]));
      };
      const shows = async (wanted: Record<string, string>, ms = WITHIN_MS) => {
        const same = () => JSON.stringify(sorted(fleet())) === JSON.stringify(sorted(wanted));
        await until(same, `the fleet is ${JSON.stringify(wanted)}`, ms).catch((error: unknown) => {
          expect(fleet()).toEqual(wanted);
          throw error;
        });
      };
      return { registry, source, log, fleet, shows };
    }

    it('reads the pods that are there, in pages, and no others', async () => {
      for (const [index, ip] of ips(5).entries()) await create({ name: `pod-${index}`, ip });
      await create({ name: 'other', labels: { app: 'redis' }, ip: '10.1.1.1' });
      await create({ name: 'starting', ready: false, ip: '10.1.1.2' });

      const { shows, source } = follow({ pagePods: 2 });

      await shows(Object.fromEntries(ips(5).map((ip) => [`${ip}:8000`, 'up'])), 5_000);
      await until(() => source.health === 'live', 'it is live');
    });

    it('follows a pod through its life', async () => {
      const { shows, source } = follow();
      await until(() => source.health === 'live', 'it is live', 5_000);

      await cluster.create({ name: 'a', labels: LABELS });
      pods.add('a');
      await cluster.update('a', { ip: '10.1.0.1', ready: false });
      await create({ name: 'b', ip: 'fd00::2' });
      await shows({ '[fd00::2]:8000': 'up' });
      await cluster.update('a', { ready: true });
      await shows({ '10.1.0.1:8000': 'up', '[fd00::2]:8000': 'up' });
      await cluster.update('a', { ready: false });
      await shows({ '10.1.0.1:8000': 'unready', '[fd00::2]:8000': 'up' });
      await cluster.update('a', { ready: true });
      await shows({ '10.1.0.1:8000': 'up', '[fd00::2]:8000': 'up' });
      await cluster.terminate('a');
      await shows({ '10.1.0.1:8000': 'leaving', '[fd00::2]:8000': 'up' });
      await remove('a');
      await shows({ '[fd00::2]:8000': 'up' });
    });

    it('loses a pod whose labels fit no more, and finds it again', async () => {
      await create({ name: 'a' });
      const { shows } = follow();
      await shows({ '10.1.0.1:8000': 'up' }, 5_000);

      await cluster.update('a', { labels: { app: 'none' } });
      await shows({});
      await cluster.update('a', { labels: LABELS });
      await shows({ '10.1.0.1:8000': 'up' });
    });

    it('takes a new pod of an old name at an old address for another worker', async () => {
      await create({ name: 'a' });
      const { shows, registry } = follow();
      await shows({ '10.1.0.1:8000': 'up' }, 5_000);
      const [before] = registry.instances;

      cluster.away(true);
      await remove('a');
      await create({ name: 'a' });
      cluster.away(false);

      await until(() => ![...registry.instances].includes(before!), 'the old worker is gone', 5_000);
      await shows({ '10.1.0.1:8000': 'up' });
    });

    it('takes a broken watch up where it was: nothing lost, nothing twice', async () => {
      await create({ name: 'a' });
      await create({ name: 'b', ip: '10.1.0.2' });
      const { shows, log } = follow();
      await shows({ '10.1.0.1:8000': 'up', '10.1.0.2:8000': 'up' }, 5_000);

      for (let round = 0; round < 3; round++) {
        cluster.cut();
        await cluster.update('a', { ready: round % 2 === 1 });
        await shows({ '10.1.0.1:8000': round % 2 === 1 ? 'up' : 'unready', '10.1.0.2:8000': 'up' });
      }

      expect(log.events.filter((event) => event === 'listed')).toHaveLength(1);
      // The first cut may have come before the first watch.
      expect(log.events.filter((event) => event === 'resumed').length).toBeGreaterThanOrEqual(2);
      expect(log.turns).toEqual(['live']);
    });

    it('lists anew when the version it knows is gone', async () => {
      for (const [index, ip] of ips(3).entries()) await create({ name: `pod-${index}`, ip });
      const { shows, log } = follow({ pagePods: 2 });
      await shows(Object.fromEntries(ips(3).map((ip) => [`${ip}:8000`, 'up'])), 5_000);

      cluster.away(true);
      await remove('pod-0');
      await cluster.update('pod-1', { ready: false });
      await create({ name: 'new', ip: '10.1.0.9' });
      await cluster.expire();
      cluster.away(false);

      await shows({ '10.1.0.2:8000': 'unready', '10.1.0.3:8000': 'up', '10.1.0.9:8000': 'up' }, 35_000);
      expect(log.events.filter((event) => event === 'listed').length).toBeGreaterThanOrEqual(2);
    }, 90_000);

    it('keeps what it knows while the API server is away, and says so', async () => {
      await create({ name: 'a' });
      const { shows, source, fleet } = follow();
      await shows({ '10.1.0.1:8000': 'up' }, 5_000);

      cluster.away(true);
      await until(() => source.health === 'stale', 'it is stale', 5_000);
      expect(fleet()).toEqual({ '10.1.0.1:8000': 'up' });
      expect(source.problem).toMatch(/^the API server cannot be asked: /);

      await create({ name: 'b', ip: '10.1.0.2' });
      cluster.away(false);
      await shows({ '10.1.0.1:8000': 'up', '10.1.0.2:8000': 'up' }, 5_000);
      expect([source.health, source.problem]).toEqual(['live', null]);
    });
  });
}

function sorted(fleet: Record<string, string>): [string, string][] {
  return Object.entries(fleet).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
