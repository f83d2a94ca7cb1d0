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
});
