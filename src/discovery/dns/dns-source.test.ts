import { afterEach, describe, expect, it } from 'vitest';
import { DiscoveryLog } from '../../../test/support/discovery-log.ts';
import { DnsServer } from '../../../test/support/dns-server.ts';
import { until } from '../../../test/support/until.ts';
import { LoadCounter } from '../../workers/load-counter.ts';
import { Registry } from '../../workers/registry.ts';
import { DnsSource } from './dns-source.ts';
import { readDeclaration } from './name-pool.ts';

const VLLM = 'vllm.test';
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function setUp() {
  const server = await DnsServer.start();
  const registry = new Registry({ drainSettleMs: 100 });
  const log = new DiscoveryLog();
  const source = new DnsSource({ sink: registry, observer: log, lookUp: server.lookUp(), intervalMs: 20 });
  closers.push(
    () => server.close(),
    () => registry.close(),
    () => source.close(),
  );
  const fleet = () => [...registry.instances].map(({ id }) => id.slice('http://'.length));
  const shows = (...wanted: string[]) =>
    until(() => fleet().toSorted().join() === wanted.toSorted().join(), `the fleet is ${wanted}`, 3_000).catch(() =>
      expect(fleet()).toEqual(wanted),
    );
  return { server, registry, log, source, fleet, shows };
}

function pool(url = `dns+http://${VLLM}:8000`, fields: object = {}) {
  const read = readDeclaration({ url, ...fields });
  if (read.kind !== 'pool') throw new Error(JSON.stringify(read));
  return read.pool;
}

describe('a name whose every address is a worker', () => {
  it('follows the answers of a DNS server', async () => {
    const { server, source, shows, registry } = await setUp();
    server.set(VLLM, ['10.0.0.1', 'fd00::1']);
    source.replace('flags', [pool()]);

    await shows('10.0.0.1:8000', '[fd00::1]:8000');
    expect(source.health).toBe('live');
    expect(registry.current.workers[0]).toMatchObject({ source: 'dns', status: 'pending' });

    server.set(VLLM, ['10.0.0.2', 'fd00::1']);
    await shows('10.0.0.2:8000', '[fd00::1]:8000');
  });

  it('drains an address that is gone while requests run there', async () => {
    const { server, source, shows, registry } = await setUp();
    server.set(VLLM, ['10.0.0.1', '10.0.0.2']);
    source.replace('flags', [pool()]);
    await shows('10.0.0.1:8000', '10.0.0.2:8000');
    const worker = registry.current.byId('http://10.0.0.1:8000')!;
    LoadCounter.of(worker.load).add('k');

    server.set(VLLM, ['10.0.0.2']);

    await until(() => registry.current.byId(worker.id)?.status === 'draining', 'it drains');
    await shows('10.0.0.2:8000');
  });

  it.each<[string, (server: DnsServer) => void, RegExp]>([
    ['the server fails', (server) => Object.assign(server, { failing: true }), /cannot be resolved/],
    ['the name is gone', (server) => server.set(VLLM, null), /cannot be resolved/],
    ['the name has no address', (server) => server.set(VLLM, []), /vllm\.test (cannot be resolved|has no address)/],
  ])('keeps what it knows when %s, and says so', async (_, breakIt, problem) => {
    const { server, source, shows, fleet, log } = await setUp();
    server.set(VLLM, ['10.0.0.1']);
    source.replace('flags', [pool()]);
    await shows('10.0.0.1:8000');

    breakIt(server);
    await until(() => source.health === 'stale' && log.problems.length >= 2, 'it is stale');
    expect(source.problem).toMatch(problem);
    expect(fleet()).toEqual(['10.0.0.1:8000']);

    server.failing = false;
    server.set(VLLM, ['10.0.0.3']);
    await shows('10.0.0.3:8000');
    await until(() => source.health === 'live', 'it is live');
  });

  it('is unread until every name was found', async () => {
    const { server, source, shows } = await setUp();
    server.set(VLLM, ['10.0.0.1']);
    source.replace('flags', [pool(), pool('dns+http://late.test')]);

    await shows('10.0.0.1:8000');
    expect(source.health).toBe('unread');
    server.set('late.test', ['10.0.0.9']);
    await until(() => source.health === 'live', 'it is live');
    await shows('10.0.0.1:8000', '10.0.0.9:80');
  });

  it('takes over what is declared of the name, and forgets it with its owner', async () => {
    const { server, source, shows, registry } = await setUp();
    server.set(VLLM, ['10.0.0.1']);
    source.replace('file', [pool()]);
    await shows('10.0.0.1:8000');

    expect(source.replace('api', [pool()])).toEqual([pool().id]);
    source.replace('file', [pool(undefined, { models: [{ id: 'm' }] })]);
    expect(registry.current.workers).toMatchObject([{ models: ['m'] }]);

    source.replace('file', []);
    expect([registry.current.workers, source.used]).toEqual([[], false]);
  });

  it('is added and removed by hand', async () => {
    const { server, source, shows } = await setUp();
    server.set(VLLM, ['10.0.0.1']);
    const { id } = pool();

    expect([source.add(pool()), source.add(pool())]).toEqual([true, false]);
    await shows('10.0.0.1:8000');
    expect(source.workersOf(id)).toEqual(['http://10.0.0.1:8000']);

    expect([source.remove(id), source.remove(id), source.workersOf(id)]).toEqual([true, false, undefined]);
    await shows();
  });

  it('brings back a worker that was removed otherwise', async () => {
    const { server, source, shows, registry } = await setUp();
    server.set(VLLM, ['10.0.0.1']);
    source.replace('flags', [pool()]);
    await until(() => source.health === 'live', 'it is live');

    registry.remove('http://10.0.0.1:8000');
    source.reconcile();
    await shows('10.0.0.1:8000');
  });
});
