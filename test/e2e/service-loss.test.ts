import { afterEach, describe, expect, it } from 'vitest';
import { startSim } from '../../src/sim/start-sim.ts';
import { type EnvoyHandle, startEnvoy } from '../support/envoy.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { ask, freePort, noEnvoy, start, until } from '../support/services.ts';
import { envoyConfig, type Stack, startStack } from '../support/stack.ts';
import { StubWorker } from '../support/stub-worker.ts';
import { splits, WatchedLoad } from '../support/watched-load.ts';

const FLAGS = [
  '--policy',
  'round_robin',
  '--routing-key-override',
  '--decision-header',
  '--pin-inflight-cap',
  '0',
  '--log-level',
  'warn',
];
const CHAT = '/v1/chat/completions';
const RATE = 150;
const KEYS = 20;

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function stackWith(envoyFlags: readonly string[] = []): Promise<Stack> {
  const stack = await startStack({ flags: FLAGS, envoyFlags, concurrency: 2 });
  closers.push(() => stack.close());
  return stack;
}

function loadOn(url: string): WatchedLoad {
  const load = new WatchedLoad(url, RATE, KEYS);
  closers.push(() => load.stop());
  return load;
}

/** Answers that do not name the worker that gave them. */
function wrongStamps(load: WatchedLoad, workers: readonly { readonly name: string; readonly url: string }[]): number {
  const urls = new Map(workers.map(({ name, url }) => [name, url]));
  return load.seen.filter(({ worker, stamp }) => stamp !== urls.get(worker)).length;
}

describe.skipIf(noEnvoy())('the service goes away', () => {
  it('killed: every request is served and names its worker; back, conversations stick again', async ({ annotate }) => {
    const stack = await stackWith();
    const load = loadOn(stack.url);
    let fewestEndpoints = Number.POSITIVE_INFINITY;
    const watch = setInterval(async () => {
      fewestEndpoints = Math.min(fewestEndpoints, (await stack.endpoints()).size);
    }, 100);
    closers.push(() => clearInterval(watch));

    await load.more(300);
    expect(splits(load.seen)).toEqual([]);
    await stack.service.kill();
    const lostAt = load.seen.length;
    await load.more(300);
    const backAt = load.seen.length;
    await stack.service.start();
    const readyAt = performance.now();
    await until(() => load.seen.slice(-KEYS).every(({ decision }) => decision !== ''), 'requests are picked again');
    await annotate(`picked again ${Math.round(performance.now() - readyAt)} ms after the ready line`);
    const pickedAgainAt = load.seen.length;
    await load.more(400);
    await load.stop();

    expect(load.failures).toEqual([]);
    expect(wrongStamps(load, stack.sim.workers)).toBe(0);
    expect(splits(load.seen.slice(lostAt, backAt))).not.toEqual([]);
    const again = load.seen.slice(pickedAgainAt);
    expect(again.filter(({ decision }) => decision === '')).toEqual([]);
    expect(splits(again)).toEqual([]);
    expect(fewestEndpoints).toBe(stack.sim.workers.length);
  });

  it('back while its first health checks still run: no request is refused', async () => {
    const worker = await StubWorker.start();
    closers.push(() => worker.dies());
    let healthMs = 0;
    worker.health = (request, response) => {
      request.resume();
      setTimeout(() => response.end('{}'), request.url === '/health' ? healthMs : 0);
    };
    const stack = await startStack({ known: 0, flags: [...FLAGS, '--worker-urls', worker.url] });
    closers.push(() => stack.close());
    await until(async () => [...(await stack.endpoints()).values()].includes('healthy'), 'the worker is known');

    healthMs = 1_000;
    await stack.service.restart();
    const load = loadOn(stack.url);
    await until(() => load.seen.some(({ decision }) => decision !== ''), 'the service picks again');
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(load.seen.length).toBeGreaterThan(50);
  });

  it('killed with --fail closed: 503 in the envelope, and 200 when it is back', async () => {
    const stack = await stackWith(['--fail', 'closed']);
    const send = () => ask(stack.url, { path: CHAT, body: { rid: 'a_t1' }, headers: { 'x-request-id': 'given-1' } });
    expect((await send()).status).toBe(200);

    await stack.service.kill();
    const refused = await send();
    expect(refused.status).toBe(503);
    expect(refused.headers).toMatchObject({
      'content-type': 'application/json',
      'x-smg-error-code': 'picker_failed',
      'x-request-id': 'given-1',
    });
    expect(refused.headers['x-smg-routed-worker-id']).toBeUndefined();
    const error = { type: 'Service Unavailable', code: 'picker_failed', message: 'The request could not be placed' };
    expect(refused.json).toEqual({ error: { ...error, param: null } });

    await stack.service.start();
    await until(async () => (await send()).status === 200, 'requests are served again');
  });

  it('killed with --fail closed: answers that run end whole, also where the body was read (envoy 3.2)', async () => {
    const stack = await stackWith(['--fail', 'closed']);
    const headers = { 'x-sim': JSON.stringify({ tokens: 20, token_ms: 50 }) };
    const running = Array.from({ length: 10 }, (_, i) =>
      start(stack.url, { path: CHAT, headers, body: { rid: `run${i}_t1`, stream: true } }),
    );
    await Promise.all(running.map((exchange) => exchange.headers));
    const reason = 'routing_key_override';
    expect((await stack.service.metrics()).sum('smg_router_request_body_path_total', { reason })).toBe(10);

    await stack.service.kill();

    for (const { answer } of running) expect((await answer).text.match(/^data: /gm)).toHaveLength(23);
  });

  it('SIGTERM under load: no request fails, running answers end whole, exit code 0', async () => {
    const stack = await stackWith();
    const load = loadOn(stack.url);
    const headers = { 'x-sim': JSON.stringify({ tokens: 50, token_ms: 100 }) };
    const running = ['rid', 'other'].map((member) =>
      start(stack.url, { path: CHAT, headers, body: { [member]: 'long_t1', stream: true } }),
    );
    await Promise.all(running.map((exchange) => exchange.headers));
    await load.more(100);

    const signalledAt = performance.now();
    stack.service.signal('SIGTERM');
    await until(() => !stack.service.running, 'the service ends');
    const tookMs = performance.now() - signalledAt;
    await load.more(100);
    await load.stop();

    expect(stack.service.exitCode).toBe(0);
    expect(tookMs).toBeLessThan(6_000);
    expect(load.failures).toEqual([]);
    expect(wrongStamps(load, stack.sim.workers)).toBe(0);
    for (const { answer } of running) expect((await answer).text.match(/^data: /gm)).toHaveLength(53);
  });

  it('a second signal ends it at once', async () => {
    const stack = await stackWith();
    const hanging = start(stack.url, { path: CHAT, headers: { 'x-sim': '{"hang_rate":1}' }, body: { rid: 'h_t1' } });
    await until(() => stack.sim.workers.some((worker) => worker.seen.running === 1), 'a request hangs');
    stack.service.signal('SIGTERM');
    await until(async () => (await stack.service.admin('/readiness')).status === 503, 'it drains');

    const signalledAt = performance.now();
    stack.service.signal('SIGINT');
    await until(() => !stack.service.running, 'the service ends');
    expect(performance.now() - signalledAt).toBeLessThan(500);
    hanging.abort();
  });

  describe('one of two replicas', () => {
    interface Pair {
      readonly envoy: EnvoyHandle;
      readonly replicas: readonly [ServiceProcess, ServiceProcess];
      readonly load: WatchedLoad;
    }

    async function startPair(fail: 'open' | 'closed'): Promise<Pair> {
      const sim = await startSim();
      closers.push(() => sim.close());
      const flags = [...FLAGS, '--worker-urls', ...sim.urls];
      const replicas = [await ServiceProcess.start(flags), await ServiceProcess.start(flags)] as const;
      for (const replica of replicas) closers.push(() => replica.kill());
      const own = ['--listen', `127.0.0.1:${await freePort()}`, '--admin-listen', `127.0.0.1:${await freePort()}`];
      const pickers = replicas.flatMap(({ grpcPort }) => ['--picker', `127.0.0.1:${grpcPort}`]);
      const envoy = await startEnvoy(await envoyConfig([...flags, ...own, ...pickers, '--fail', fail]), {
        concurrency: 2,
      });
      closers.push(() => envoy.stop());
      await until(async () => (await ask(envoy.url, { path: CHAT, body: {} })).headers['x-smg-decision'], 'picks');
      return { envoy, replicas, load: loadOn(envoy.url) };
    }

    it('SIGTERM of one, then of the other: no error, and every request is picked', async () => {
      const { envoy, replicas, load } = await startPair('closed');
      await load.more(100);
      for (const replica of replicas) {
        replica.signal('SIGTERM');
        await until(() => !replica.running, 'it ends');
        expect(replica.exitCode).toBe(0);
        await load.more(100);
        await replica.start();
        await until(async () => (await healthyPickers(envoy)) === 2, 'Envoy asks both again');
      }
      await load.stop();
      expect(load.failures).toEqual([]);
      expect(load.seen.filter(({ decision }) => decision === '')).toEqual([]);
    });

    it('SIGKILL of one, then of the other: no error', async ({ annotate }) => {
      const { envoy, replicas, load } = await startPair('open');
      await load.more(100);
      let openAtLoss = 0;
      for (const replica of replicas) {
        openAtLoss += load.open;
        await replica.kill();
        await load.more(300);
        await replica.start();
        await until(async () => (await healthyPickers(envoy)) === 2, 'Envoy asks both again');
      }
      await load.stop();
      expect(load.failures).toEqual([]);
      // Only requests whose body the lost one was just reading are placed by Envoy itself.
      const unpicked = load.seen.filter(({ decision }) => decision === '').length;
      await annotate(`${unpicked} of ${load.seen.length} unpicked`);
      expect(unpicked).toBeLessThanOrEqual(openAtLoss);
    });
  });
});

async function healthyPickers(envoy: EnvoyHandle): Promise<number> {
  const { text } = await ask(envoy.adminUrl, { path: '/clusters' });
  return text.match(/^picker::.*::health_flags::healthy$/gm)?.length ?? 0;
}
