import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, ask, noEnvoy, type Stack, startStack, until } from '../support/services.ts';

const INTERVAL_MS = 1_000;
const FLAGS: readonly string[] = [
  ...['--policy', 'round_robin', '--routing-key-override', '--log-level', 'warn'],
  ...['--worker-overload-waiting-requests', '5', '--load-monitor-interval', String(INTERVAL_MS / 1000)],
];

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

async function start(): Promise<Stack> {
  stack = await startStack({ flags: FLAGS });
  return stack;
}

function chat(on: Stack, rid?: string): Promise<Answer> {
  const messages = [{ role: 'user', content: 'hi' }];
  const body = { model: 'sim-model', messages, ...(rid === undefined ? {} : { rid }) };
  return ask(on.url, { path: '/v1/chat/completions', body });
}

async function untilOverloaded(on: Stack, count: number): Promise<void> {
  const overloaded = async () => (await on.service.metrics()).sum('smg_workers_overloaded', { model: 'sim-model' });
  await until(async () => (await overloaded()) === count, `${count} workers are overloaded`);
}

describe.skipIf(noEnvoy())('policies 2.2 overload, through Envoy', () => {
  it('sheds when every worker is overloaded, and uses one that recovers within a poll interval', async () => {
    const on = await start();
    on.sim.set({ waiting: 5 });
    await untilOverloaded(on, 3);
    const before = on.sim.workers.map((worker) => worker.seen.requests);

    const shed = await chat(on);

    expect(shed.status).toBe(503);
    expect(shed.headers).toMatchObject({
      'x-smg-error-code': 'worker_overload_protection_shed',
      'retry-after': '1',
      'content-type': 'application/json',
    });
    expect(shed.headers).not.toHaveProperty('x-smg-routed-worker-id');
    expect(shed.json.error).toMatchObject({ code: 'worker_overload_protection_shed', type: 'Service Unavailable' });
    expect(on.sim.workers.map((worker) => worker.seen.requests)).toEqual(before);
    expect((await on.service.metrics()).sum('smg_worker_overload_shed_total', { stage: 'selection' })).toBe(1);

    const recovering = on.sim.workers[1]!;
    recovering.set({ waiting: 4 });
    const since = performance.now();
    const served = await until(async () => {
      const answer = await chat(on);
      return answer.status === 200 ? answer : null;
    }, 'a worker serves again');

    // The machine that tests may be busy; a second interval would show.
    expect(performance.now() - since).toBeLessThan(1.5 * INTERVAL_MS);
    expect(served.headers['x-sim-worker']).toBe(recovering.name);
  });

  it('is no shed when a worker is out for another reason', async () => {
    const on = await start();
    const [gone, ...others] = on.sim.workers;
    for (const worker of others) worker.set({ waiting: 9 });
    await untilOverloaded(on, 2);
    await on.service.admin(`/workers/${encodeURIComponent(gone!.url)}/drain`, { method: 'POST' });

    const refused = await until(async () => {
      const answer = await chat(on);
      return answer.status === 503 ? answer : null;
    }, 'nobody takes new requests');

    expect(refused.headers['x-smg-error-code']).toBe('no_available_workers');
    expect(refused.headers).not.toHaveProperty('retry-after');
  });

  it('moves a conversation away from an overloaded worker, and leaves it where it went', async () => {
    const on = await start();
    const first = (await chat(on, 'c1')).headers['x-sim-worker'];
    const home = on.sim.workers.find((worker) => worker.name === first)!;

    home.set({ waiting: 9 });
    await untilOverloaded(on, 1);
    const second = (await chat(on, 'c1')).headers['x-sim-worker'];
    expect(second).not.toBe(first);

    home.set({ waiting: 0 });
    await untilOverloaded(on, 0);
    expect((await chat(on, 'c1')).headers['x-sim-worker']).toBe(second);
  });
});
