import { afterEach, describe, expect, it } from 'vitest';
import type { SimWorker } from '../../src/sim/worker.ts';
import { noEnvoy, type Outgoing, type Stack, type StackOptions, startStack, until } from '../support/services.ts';
import { SteadyLoad } from '../support/steady-load.ts';

const RATE = 200;
const FLAGS = ['--policy', 'round_robin', '--routing-key-override', '--log-level', 'warn'];

let stack: Stack | undefined;
let load: SteadyLoad | undefined;
afterEach(async () => {
  await load?.stop();
  await stack?.close();
  stack = undefined;
  load = undefined;
});

async function start(options: StackOptions): Promise<Stack> {
  stack = await startStack({ sim: { count: 4, firstTokenMs: 5 }, concurrency: 2, flags: FLAGS, ...options });
  return stack;
}

/** A load that already reaches every worker that Envoy knows. */
async function startLoad(on: Stack): Promise<SteadyLoad> {
  const known = new Set((await on.endpoints()).keys());
  const begun = new SteadyLoad(on.url, RATE);
  load = begun;
  const workers = on.sim.workers.filter(({ address }) => known.has(address));
  await until(() => workers.every(({ name }) => begun.answersOf(name) > 5), 'every worker answers');
  return begun;
}

/** When Envoy's endpoints were first seen so, by the clock of `performance`. */
async function seenAt(on: Stack, worker: SimWorker, health: string | undefined): Promise<number> {
  await until(async () => (await on.endpoints()).get(worker.address) === health, `${worker.name} is ${health}`);
  return performance.now();
}

async function expectAllServed(running: SteadyLoad): Promise<void> {
  const result = await running.stop();
  if (process.env['FIGURES']) process.stdout.write(`${JSON.stringify(result)}\n`);
  const { failures, rate } = result;
  expect(failures).toEqual([]);
  expect(rate).toBeGreaterThan(RATE * 0.8);
}

describe.skipIf(noEnvoy())(`workers come and go at ${RATE} requests a second`, () => {
  it('workers add and remove: no failed request, and Envoy follows within a second', async () => {
    const on = await start({ known: 3 });
    const fourth = on.sim.workers[3]!;
    const running = await startLoad(on);

    const changed = async (command: string, message: string, health: string | undefined): Promise<number> => {
      const seen = seenAt(on, fourth, health);
      seen.catch(() => undefined); // why the command failed is the better message
      const { code, output } = await on.service.cli(['workers', command, fourth.url]);
      const ended = performance.now();
      expect({ code, output }).toEqual({ code: 0, output: `${message}: ${fourth.url}\n` });
      return (await seen) - ended;
    };
    const addLag = await changed('add', 'Worker is being added', 'healthy');
    await until(() => running.answersOf(fourth.name) > 50, 'the new worker works');
    const removeLag = await changed('remove', 'Worker is being removed', undefined);

    if (process.env['FIGURES']) process.stdout.write(`${JSON.stringify({ addLag, removeLag })}\n`);
    expect(addLag).toBeLessThan(1000);
    expect(removeLag).toBeLessThan(1000);
    await expectAllServed(running);
  });

  it('workers add --wait returns when the worker takes requests', async () => {
    const on = await start({ known: 3 });
    const fourth = on.sim.workers[3]!;

    const add = await on.service.cli(['workers', 'add', fourth.url, '--wait', '10']);

    expect(add).toMatchObject({ code: 0, output: `Worker is ready: ${fourth.url}\n` });
    const running = await startLoad(on);
    await until(() => running.answersOf(fourth.name) > 10, 'the new worker works');
    await expectAllServed(running);
  });

  it('a worker that holds conversations is removed and added again, ten times over', async () => {
    const on = await start({});
    const third = on.sim.workers[2]!;
    const running = await startLoad(on);

    const lags: number[] = [];
    const change = async (path: string, out: Outgoing, health: string | undefined): Promise<void> => {
      expect((await on.service.admin(path, out)).status).toBe(202);
      const answered = performance.now();
      lags.push((await seenAt(on, third, health)) - answered);
    };
    for (let round = 0; round < 10; round++) {
      const answers = running.answersOf(third.name);
      await change(`/workers/${encodeURIComponent(third.url)}`, { method: 'DELETE' }, undefined);
      await change('/workers', { body: { url: third.url } }, 'healthy');
      await until(() => running.answersOf(third.name) > answers + 5, 'it has conversations again');
    }

    if (process.env['FIGURES']) process.stdout.write(`${JSON.stringify(lags.map(Math.round))}\n`);
    expect(Math.max(...lags)).toBeLessThan(1000);
    await expectAllServed(running);
  });

  it('the config file adds and removes workers; a broken one changes nothing and is counted', async () => {
    const fileOf = (workers: readonly SimWorker[]): string =>
      `workers:\n${workers.map(({ url }) => `  - url: ${url}\n`).join('')}`;
    const on = await start({ known: 0, config: (urls) => `workers:\n  - url: ${urls[0]}\n  - url: ${urls[1]}\n` });
    const [first, second, third] = on.sim.workers as [SimWorker, SimWorker, SimWorker];
    const running = await startLoad(on);
    const metrics = async () => {
      const all = await on.service.metrics();
      return {
        reloads: all.sum('smg_envoy_config_reloads_total'),
        failures: all.sum('smg_envoy_config_reload_failures_total'),
      };
    };

    on.writeConfig(fileOf([first, second, third]));
    await seenAt(on, third, 'healthy');
    await until(() => running.answersOf(third.name) > 10, 'the new worker works');
    on.writeConfig(fileOf([second, third]));
    await seenAt(on, first, undefined);
    expect(await metrics()).toEqual({ reloads: 2, failures: 0 });

    on.writeConfig('workers:\n  - url: [nonsense\n');
    await until(async () => (await metrics()).failures === 1, 'the failure is counted');
    on.writeConfig(`${fileOf([second])}unheard_of: 7\n`);
    await until(async () => (await metrics()).failures === 2, 'the failure is counted');
    expect(on.service.output).toMatch(/config\.yaml:\d+:\d+.*unheard_of/);
    expect([...(await on.endpoints()).keys()].toSorted()).toEqual([second.address, third.address].toSorted());

    on.writeConfig(fileOf([second, third, first]));
    await seenAt(on, first, 'healthy');
    expect(await metrics()).toEqual({ reloads: 3, failures: 2 });
    await expectAllServed(running);
  });
});
