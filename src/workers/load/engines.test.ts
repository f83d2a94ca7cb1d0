/** The load monitor against engines on real sockets. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { specOf } from '../../../test/support/registry-bench.ts';
import { StubWorker } from '../../../test/support/stub-worker.ts';
import { until } from '../../../test/support/until.ts';
import { Registry } from '../registry.ts';
import { LoadMonitor, type LoadMonitorOptions } from './load-monitor.ts';

const cleanUp: (() => unknown)[] = [];

afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

type Pages = Readonly<Record<string, string | number>>;

/** An engine whose pages are a body with status 200, or a status; all else is 404. */
async function engineWith(pages: Pages): Promise<StubWorker> {
  const engine = await StubWorker.start();
  engine.health = (request: IncomingMessage, response: ServerResponse) => {
    const page = pages[(request.url ?? '').split('?', 1)[0] ?? ''] ?? 404;
    if (typeof page === 'number') response.writeHead(page).end();
    else response.writeHead(200).end(page);
  };
  cleanUp.push(() => engine.dies());
  return engine;
}

function watch(engine: StubWorker, fields: object = {}, options: Partial<LoadMonitorOptions> = {}) {
  const registry = new Registry();
  const { worker } = registry.add(specOf(engine.url, { models: [{ id: 'org/m' }], ...fields }), 'api');
  const instance = registry.instance(worker.id)!;
  registry.assumeReady(instance);
  const results: string[] = [];
  const reasons: string[] = [];
  const monitor = new LoadMonitor(registry, {
    intervalMs: 20,
    staleIntervals: 3,
    overload: { waitingRequests: null, tokenUsage: null },
    needed: () => true,
    observer: {
      polled: (_, result) => void results.push(result),
      reporting: (_, __, reason) => void reasons.push(reason),
      overloaded: () => {},
    },
    ...options,
  });
  cleanUp.push(() => {
    monitor.close();
    registry.close();
  });
  return { monitor, registry, instance, engineLoad: instance.engine, results, reasons };
}

describe('engines on real sockets', () => {
  it('reads the native route, asking with the key and the authority of the worker', async () => {
    const engine = await engineWith({ '/loads': '{"loads":[{"num_waiting_reqs":7,"token_usage":0.25}]}' });

    const { engineLoad } = watch(engine, { api_key: 'secret' });
    await until(() => engineLoad.reports >= 3, 'three reports');

    expect(engineLoad.current).toMatchObject({ waitingRequests: 7, tokenUsage: 0.25 });
    expect(new Set(engine.asked)).toEqual(new Set(['/loads?model=org%2Fm']));
    expect(engine.lastHeaders).toMatchObject({ authorization: 'Bearer secret', host: engine.url.slice(7) });
  });

  it('finds the exposition of a vLLM engine behind routes that it lacks', async () => {
    const engine = await engineWith({
      '/metrics': 'vllm:num_requests_waiting{engine="0"} 3\nvllm:kv_cache_usage_perc{engine="0"} 0.5\n',
    });

    const { engineLoad } = watch(engine);
    await until(() => engineLoad.reports >= 2, 'two reports');

    expect(engineLoad.current).toMatchObject({ waitingRequests: 3, tokenUsage: 0.5 });
    expect(engine.asked.slice(0, 4)).toEqual([
      '/loads?model=org%2Fm',
      '/v1/loads?include=core,disagg,queues,memory',
      '/metrics',
      '/metrics',
    ]);
  });

  it.each([
    { pages: {}, result: 'no_report', reason: '/metrics: HTTP 404 without a load report' },
    { pages: { '/metrics': 'x'.repeat(5_000_000) }, result: 'no_report', reason: '/metrics: HTTP 200' },
    { pages: { '/loads': 500, '/metrics': 503 }, result: 'no_report', reason: '/metrics: HTTP 503' },
  ])('takes $reason for no report', async ({ pages, result, reason }) => {
    const engine = await engineWith(pages as Pages);

    const { engineLoad, results, reasons } = watch(engine);
    await until(() => results.length >= 2, 'two polls');

    expect(new Set(results)).toEqual(new Set([result]));
    expect(reasons).toEqual([expect.stringContaining(reason)]);
    expect(engineLoad).toMatchObject({ current: null, recent: null, reports: 0 });
  });

  it('loses the reports of an engine that dies, and has them again when it returns', async () => {
    const engine = await engineWith({ '/loads': '{"loads":[{"num_waiting_reqs":7}]}' });
    const rule = { waitingRequests: 5, tokenUsage: null };
    const { engineLoad, instance } = watch(engine, {}, { overload: rule });
    await until(() => instance.worker.overloaded, 'overloaded');

    await engine.dies();
    await until(() => engineLoad.recent === null && !instance.worker.overloaded, 'no report and no veto');

    await engine.returns();
    await until(() => engineLoad.current !== null && instance.worker.overloaded, 'reports and the veto');
  });

  it('leaves no connection and no timer behind', async () => {
    const engine = await engineWith({});
    engine.health = 'hang';
    const { monitor, results } = watch(engine);
    await until(() => engine.connections > 0, 'a poll that hangs');

    monitor.close();

    await until(() => engine.connections === 0, 'its connection closed');
    expect(results).toEqual([]);
  });

  it('closes the connection that it kept between two polls', async () => {
    const engine = await engineWith({ '/loads': '{"loads":[{}]}' });
    const { monitor, results } = watch(engine, {}, { intervalMs: 60_000 });
    await until(() => results.length === 1, 'a report');
    expect(engine.connections).toBe(1);

    monitor.close();

    await until(() => engine.connections === 0, 'its connection closed, before the engine closes it', 4_000);
  });
});

describe('policies 3, pitfall 22: ranks of a data-parallel engine', () => {
  const THREE = JSON.stringify({
    loads: [0, 1, 2].map((rank) => ({ dp_rank: rank, num_waiting_reqs: 10 * rank, token_usage: rank / 10 })),
  });

  async function rankOf(page: string, pages: Pages = { '/loads': page }) {
    const engine = await engineWith(pages);
    const registry = new Registry({ dpAware: true });
    const { worker } = registry.add(specOf(engine.url), 'api');
    registry.ranksAnswered(registry.instance(worker.id)!, 3);
    const ranks = [0, 1, 2].map((rank) => registry.instance(`${worker.id}@${rank}`)!);
    for (const rank of ranks) registry.assumeReady(rank);
    const monitor = new LoadMonitor(registry, {
      intervalMs: 20,
      staleIntervals: 3,
      overload: { waitingRequests: 20, tokenUsage: null },
      needed: () => true,
    });
    cleanUp.push(() => {
      monitor.close();
      registry.close();
    });
    await until(() => ranks.every((rank) => rank.engine.current !== null), 'a report for each rank');
    return { ranks, engine, registry, id: worker.id };
  }

  it('each is asked at the base URL, and takes its own part of the report', async () => {
    const { ranks, engine, registry, id } = await rankOf(THREE);

    expect(ranks.map(({ engine: { current } }) => [current?.waitingRequests, current?.tokenUsage])).toEqual([
      [0, 0],
      [10, 0.1],
      [20, 0.2],
    ]);
    expect(ranks.map(({ engine: { current } }) => current?.ranks.map(({ rank }) => rank))).toEqual([[0], [1], [2]]);
    expect(engine.lastHeaders.host).toBe(engine.url.slice(7));
    await until(() => registry.current.byId(`${id}@2`)?.overloaded === true, 'the third rank alone is overloaded');
    expect(registry.current.workers.map(({ overloaded }) => overloaded)).toEqual([false, false, true]);
  });

  it('each takes all of a report that does not tell them apart', async () => {
    const { ranks } = await rankOf('', { '/metrics': 'vllm:kv_cache_usage_perc 0.5\nvllm:num_requests_waiting 7\n' });

    expect(ranks.map(({ engine: { current } }) => current?.waitingRequests)).toEqual([7, 7, 7]);
  });
});
