import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Knobs } from '../../src/sim/knobs.ts';
import type { SimWorker } from '../../src/sim/worker.ts';
import { start as begin } from '../support/http.ts';
import { type Answer, ask, noEnvoy, type Stack, startStack, until } from '../support/services.ts';

const PATH = '/v1/chat/completions';
const BREAKER = [
  ...['--policy', 'round_robin', '--routing-key-override', '--log-level', 'error'],
  ...['--cb-failure-threshold', '3', '--cb-success-threshold', '2'],
];
const SHORT = ['--cb-timeout-duration-secs', '1'];
const FOR_GOOD = ['--cb-timeout-duration-secs', '3600'];
/** One attempt a request, which is cut after a second. */
const ONE_TRY = ['--retry-max-retries', '1', '--request-timeout-secs', '1'];
const FAST_RETRIES = ['--retry-initial-backoff-ms', '1', '--retry-max-backoff-ms', '2'];
const WELL: Partial<Knobs> = { failRate: 0, hangRate: 0, resetRate: 0, dropRate: 0 };

function chat(on: Stack, rid?: string): Promise<Answer> {
  return ask(on.url, { path: PATH, body: { model: 'sim-model', ...(rid === undefined ? {} : { rid }) } });
}

async function breakerOf(on: Stack, worker: SimWorker): Promise<string> {
  return (await on.service.admin(`/workers/${encodeURIComponent(worker.url)}`)).json.breaker;
}

function untilBreaker(on: Stack, worker: SimWorker, state: string): Promise<unknown> {
  return until(async () => (await breakerOf(on, worker)) === state, `the breaker of ${worker.name} is ${state}`);
}

/** What the service counts of one worker's breaker, once Envoy has told the end of all requests. */
async function counted(on: Stack, { url: worker }: SimWorker) {
  const metrics = await until(async () => {
    const now = await on.service.metrics();
    return now.sum('smg_envoy_picks_in_flight') === 0 ? now : undefined;
  }, 'every request has ended');
  const of = (name: string, labels: Record<string, string> = {}) =>
    metrics.sum(`smg_worker_cb_${name}`, { worker, ...labels });
  return {
    state: of('state'),
    failures: of('outcomes_total', { outcome: 'failure' }),
    successes: of('outcomes_total', { outcome: 'success' }),
    failureRun: of('consecutive_failures'),
    opened: of('transitions_total', { from: 'closed', to: 'open' }),
    halfOpened: of('transitions_total', { from: 'open', to: 'half_open' }),
    reopened: of('transitions_total', { from: 'half_open', to: 'open' }),
    closed: of('transitions_total', { from: 'half_open', to: 'closed' }),
  };
}

/** Waits until it has taken in that many outcomes more than `before`. */
async function untilCounted(
  on: Stack,
  worker: SimWorker,
  before: { failures: number; successes: number },
  more: { failures?: number; successes?: number },
) {
  const { failures = 0, successes = 0 } = more;
  return until(async () => {
    const now = await counted(on, worker);
    const all = now.failures === before.failures + failures && now.successes === before.successes + successes;
    return all ? now : undefined;
  }, `${worker.name} has ${failures} more failures and ${successes} more successes`);
}

/** A key that is pinned to this worker. */
async function keyAt(on: Stack, worker: SimWorker, prefix: string): Promise<string> {
  for (let n = 0; n < 10; n++) {
    const answer = await chat(on, `${prefix}-${n}`);
    if (answer.headers['x-sim-worker'] === worker.name) return `${prefix}-${n}`;
  }
  throw new Error(`no key went to ${worker.name}`);
}

describe.skipIf(noEnvoy())('policies 2.3 each transition, one attempt a request', () => {
  let on: Stack;
  beforeAll(async () => {
    on = await startStack({ sim: { count: 2 }, flags: [...BREAKER, ...SHORT, ...ONE_TRY] });
  });
  afterAll(() => on?.close());

  it.for<[string, Partial<Knobs> | 'gone', number]>([
    ['500', { failRate: 1, failStatus: 500 }, 500],
    ['502', { failRate: 1, failStatus: 502 }, 502],
    ['503', { failRate: 1, failStatus: 503 }, 503],
    ['504', { failRate: 1, failStatus: 504 }, 504],
    ['408', { failRate: 1, failStatus: 408 }, 408],
    ['a reset connection', { resetRate: 1 }, 503],
    ['no answer in time', { hangRate: 1 }, 504],
    ['a refused connection', 'gone', 503],
  ])('%s: opens with the third, stays open, half-opens, closes', async ([name, failing, status]) => {
    const sick = on.sim.workers[0]!;
    const well = on.sim.workers[1]!;
    const key = await keyAt(on, sick, name);
    const before = await counted(on, sick);
    const misses = async () =>
      (await on.service.metrics()).sum('smg_manual_policy_branch_total', { branch: 'occupied_miss' });

    if (failing === 'gone') await sick.kill();
    else sick.set(failing);
    for (let n = 1; n <= 3; n++) {
      expect((await chat(on, key)).status).toBe(status);
      const now = await untilCounted(on, sick, before, { failures: n });
      expect([now.state, now.failureRun]).toEqual([n === 3 ? 1 : 0, n]);
    }
    expect((await counted(on, sick)).opened).toBe(before.opened + 1);

    // Open: its keys leave it, and it is left alone.
    const asked = sick.seen.requests;
    const missed = await misses();
    const turn = await chat(on, key);
    expect([turn.status, turn.headers['x-sim-worker']]).toEqual([200, well.name]);
    expect(await misses()).toBe(missed + 1);
    for (let n = 0; n < 6; n++) expect((await chat(on)).headers['x-sim-worker']).toBe(well.name);
    if (failing !== 'gone') expect(sick.seen.requests).toBe(asked);

    // Half-open: it gets requests like any other, and closes with the second success.
    if (failing === 'gone') await sick.restart();
    else sick.set(WELL);
    await untilBreaker(on, sick, 'half_open');
    const trial = await counted(on, sick);
    for (let successes = 1; successes <= 2; successes++) {
      await until(async () => (await chat(on)).headers['x-sim-worker'] === sick.name, 'a trial');
      const now = await untilCounted(on, sick, trial, { successes });
      expect(now.state).toBe(successes === 2 ? 0 : 2);
    }
    expect((await counted(on, sick)).closed).toBe(before.closed + 1);
  });

  it('a trial that fails opens it anew, for a whole time', async () => {
    const sick = on.sim.workers[0]!;
    const key = await keyAt(on, sick, 'again');
    const before = await counted(on, sick);
    sick.set({ failRate: 1, failStatus: 500 });
    for (let n = 0; n < 3; n++) await chat(on, key);
    await untilBreaker(on, sick, 'half_open');

    const trial = await counted(on, sick);
    await until(async () => (await chat(on)).status === 500, 'a trial');
    const now = await untilCounted(on, sick, trial, { failures: 1 });
    expect([now.state, now.reopened]).toEqual([1, before.reopened + 1]);

    sick.set(WELL);
    await untilBreaker(on, sick, 'half_open');
    expect((await counted(on, sick)).halfOpened).toBe(before.halfOpened + 2);
    const second = await counted(on, sick);
    for (let successes = 1; successes <= 2; successes++) {
      await until(async () => (await chat(on)).headers['x-sim-worker'] === sick.name, 'a trial');
      await untilCounted(on, sick, second, { successes });
    }
    expect(await breakerOf(on, sick)).toBe('closed');
  });

  it('a success in between begins the count anew', async () => {
    const sick = on.sim.workers[0]!;
    const key = await keyAt(on, sick, 'between');
    for (const failRate of [1, 1, 0, 1, 1]) {
      sick.set({ failRate, failStatus: 500 });
      expect((await chat(on, key)).status).toBe(failRate === 1 ? 500 : 200);
    }
    sick.set(WELL);
    await until(async () => (await counted(on, sick)).failureRun === 2, 'two failures in a row');
    expect(await breakerOf(on, sick)).toBe('closed');
    await chat(on, key);
    await until(async () => (await counted(on, sick)).failureRun === 0, 'a success');
  });

  it('429 counts neither way, other errors are successes', async () => {
    const sick = on.sim.workers[0]!;
    const key = await keyAt(on, sick, 'busy');
    const before = await counted(on, sick);
    for (const failStatus of [500, 429, 500, 429, 429, 429]) {
      sick.set({ failRate: 1, failStatus });
      expect((await chat(on, key)).status).toBe(failStatus);
    }
    const two = await untilCounted(on, sick, before, { failures: 2 });
    expect([two.state, two.failureRun]).toEqual([0, 2]);

    sick.set({ failRate: 1, failStatus: 404 });
    expect((await chat(on, key)).status).toBe(404);
    const now = await untilCounted(on, sick, before, { failures: 2, successes: 1 });
    expect(now.failureRun).toBe(0);
    sick.set(WELL);
  });

  it('clients that leave are no failure, an answer that breaks off is a success', async () => {
    const sick = on.sim.workers[0]!;
    const key = await keyAt(on, sick, 'leave');
    const before = await counted(on, sick);
    const ends = async () => (await on.service.metrics()).sum('smg_envoy_access_log_entries_total', { kind: 'end' });
    const ended = await ends();
    sick.set({ hangRate: 1 });
    for (let n = 1; n <= 4; n++) {
      const running = sick.seen.requests;
      const exchange = begin(on.url, { path: PATH, body: { model: 'sim-model', rid: key } });
      await until(() => sick.seen.requests > running, 'the worker has the request');
      exchange.abort();
      await until(async () => (await ends()) === ended + n, 'Envoy has told its end');
    }
    expect(await counted(on, sick)).toMatchObject({ failures: before.failures, successes: before.successes });

    sick.set({ hangRate: 0, dropRate: 1 });
    await expect(chat(on, key)).rejects.toThrow();
    await untilCounted(on, sick, before, { successes: 1 });
    sick.set(WELL);
  });
});

describe.skipIf(noEnvoy())('policies 5 with retries each attempt counts', () => {
  let stack: Stack | undefined;
  afterEach(async () => {
    await stack?.close();
    stack = undefined;
  });

  async function start(count: number, flags: readonly string[] = []): Promise<Stack> {
    stack = await startStack({ sim: { count }, flags: [...BREAKER, ...FOR_GOOD, ...FAST_RETRIES, ...flags] });
    return stack;
  }

  it.for<[string, Partial<Knobs> | 'gone']>([
    ['503', { failRate: 1, failStatus: 503 }],
    ['a reset connection', { resetRate: 1 }],
    ['a refused connection', 'gone'],
  ])('%s at one worker of three: three attempts, none seen by a client, and no fourth', async ([, failing]) => {
    const on = await start(3);
    const sick = on.sim.workers[1]!;
    if (failing === 'gone') await sick.kill();
    else sick.set(failing);

    for (let n = 0; n < 30; n++) expect((await chat(on)).status).toBe(200);

    expect(await counted(on, sick)).toMatchObject({ state: 1, failures: 3, successes: 0, opened: 1 });
    if (failing !== 'gone') expect(sick.seen.requests).toBe(3);
    const others = await Promise.all([0, 2].map((n) => counted(on, on.sim.workers[n]!)));
    expect(others.map(({ failures }) => failures)).toEqual([0, 0]);
    expect(others.reduce((sum, { successes }) => sum + successes, 0)).toBe(30);
  });

  it('429 everywhere: five attempts, none counted', async () => {
    const on = await start(2);
    on.sim.set({ failRate: 1, failStatus: 429 });

    expect((await chat(on)).status).toBe(429);

    on.sim.set(WELL);
    expect((await chat(on)).status).toBe(200);
    const both = await until(async () => {
      const all = await Promise.all(on.sim.workers.map((worker) => counted(on, worker)));
      return all.some(({ successes }) => successes === 1) ? all : undefined;
    }, 'the success is counted');
    expect(both.map(({ failures }) => failures)).toEqual([0, 0]);
  });

  it('all fail: as many failures as attempts, until nobody is left to ask', async () => {
    const on = await start(2);
    on.sim.set({ failRate: 1, failStatus: 500 });

    expect((await chat(on)).status).toBe(500);
    const failures = async () => {
      const all = await Promise.all(on.sim.workers.map((worker) => counted(on, worker)));
      return all.map((each) => each.failures);
    };
    await until(async () => (await failures()).reduce((sum, each) => sum + each, 0) === 5, 'five failures');
    expect(await failures()).toEqual(on.sim.workers.map(({ seen }) => seen.requests));

    expect((await chat(on)).status).toBe(500);
    for (const worker of on.sim.workers) await untilBreaker(on, worker, 'open');
    const asked = on.sim.workers.map(({ seen }) => seen.requests);
    const refused = await chat(on);
    expect([refused.status, refused.headers['x-smg-error-code']]).toEqual([503, 'no_available_workers']);
    expect(on.sim.workers.map(({ seen }) => seen.requests)).toEqual(asked);
  });

  it("decisions 24: Envoy's own choice leaves a worker with an open breaker alone", async () => {
    const on = await start(3);
    const sick = on.sim.workers[1]!;
    sick.set({ failRate: 1, failStatus: 500 });
    for (let n = 0; n < 9; n++) await chat(on);
    await until(async () => (await on.endpoints()).get(sick.address) === 'degraded', 'Envoy knows');
    sick.set(WELL);
    const asked = sick.seen.requests;

    await on.service.kill();
    for (let n = 0; n < 60; n++) expect((await chat(on)).status).toBe(200);

    expect(sick.seen.requests).toBe(asked);
  });

  it('--disable-circuit-breaker: every round fails once more', async () => {
    const on = await start(3, ['--disable-circuit-breaker']);
    const sick = on.sim.workers[1]!;
    sick.set({ failRate: 1, failStatus: 500 });

    for (let n = 0; n < 30; n++) expect((await chat(on)).status).toBe(200);

    expect(sick.seen.requests).toBe(10);
    expect(await breakerOf(on, sick)).toBe('closed');
  });
});
