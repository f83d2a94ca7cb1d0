import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, ask, FAST_HEALTH, noEnvoy, type Stack, startStack, until } from '../support/services.ts';

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

async function start(flags: readonly string[] = []): Promise<Stack> {
  const policy = ['--policy', 'consistent_hashing', '--routing-key-override', '--log-level', 'warn'];
  stack = await startStack({ sim: { count: 3 }, flags: [...policy, ...flags] });
  return stack;
}

function askFor(on: Stack, target: string, more: Record<string, string> = {}): Promise<Answer> {
  const headers = { 'x-smg-target-worker': target, 'x-smg-routing-key': 'some-key', ...more };
  return ask(on.url, { path: '/v1/chat/completions', headers, body: { model: 'sim-model', rid: 'conv_t1' } });
}

/** Requests that the workers have seen, in order of the workers. */
function seen(on: Stack): number[] {
  return on.sim.workers.map((worker) => worker.seen.requests);
}

function expectMiss(answer: Answer): void {
  expect(answer.status).toBe(503);
  expect(answer.headers['x-smg-error-code']).toBe('no_available_workers');
  expect(answer.json.error.code).toBe('no_available_workers');
  expect(answer.headers['x-smg-routed-worker-id']).toBeUndefined();
}

async function untilStatus(on: Stack, index: number, status: string): Promise<void> {
  const path = `/workers/${encodeURIComponent(on.sim.urls[index]!)}`;
  await until(async () => (await on.service.admin(path)).json.status === status, `worker ${index} is ${status}`);
}

describe.skipIf(noEnvoy())('sticky-sessions 1.4: x-smg-target-worker', () => {
  it('reaches the worker of an index, of an id, of host:port, whatever the keys', async () => {
    const on = await start();

    for (const [index, worker] of on.sim.workers.entries()) {
      for (const target of [`${index}`, `+${index}`, `0${index}`, worker.url, worker.address]) {
        const answer = await askFor(on, target);
        expect([answer.status, answer.headers['x-sim-worker']], target).toEqual([200, worker.name]);
        expect(answer.headers['x-smg-routed-worker-id']).toBe(worker.url);
      }
      // A control header: the worker does not see it.
      expect(worker.seen.last?.rawHeaders).not.toContain('x-smg-target-worker');
    }
    expect(seen(on)).toEqual([5, 5, 5]);
    const branch = 'target_worker_hit';
    expect((await on.service.metrics()).sum('smg_consistent_hashing_policy_branch_total', { branch })).toBe(15);
  });

  it('anything else is a miss: 503, and no worker is asked', async () => {
    const on = await start();
    const misses = ['3', '-1', '1.0', '1,2', '0x1', 'abc', '9'.repeat(23), 'http://127.0.0.1:1', '127.0.0.1:1'];

    for (const target of misses) expectMiss(await askFor(on, target));

    expect(seen(on)).toEqual([0, 0, 0]);
    const branch = 'target_worker_miss';
    const metrics = await on.service.metrics();
    expect(metrics.sum('smg_consistent_hashing_policy_branch_total', { branch })).toBe(misses.length);
  });

  it('an answer of the target is never repeated elsewhere, whatever its status', async () => {
    const on = await start();
    on.sim.set({ failRate: 1 });

    for (const [at, failStatus] of [429, 500, 502, 503, 504].entries()) {
      on.sim.set({ failStatus });
      const answer = await askFor(on, '1');
      expect([answer.status, answer.json.error.code]).toEqual([failStatus, 'sim_failure']);
      expect(answer.headers['x-smg-routed-worker-id']).toBe(on.sim.urls[1]);
      expect(seen(on)).toEqual([0, at + 1, 0]);
    }
  });

  it('a target that resets the connection: 503, never another worker', async () => {
    const on = await start();
    on.sim.set({ resetRate: 1 });

    const answer = await askFor(on, '1');

    expect(answer.status).toBe(503);
    expect(answer.headers['x-smg-error-code']).toBe('call_upstream_request_error');
    expect(seen(on)).toEqual([0, 1, 0]);
  });

  it('a dead target: 503, before and after that is noticed; a client cannot have it retried', async () => {
    const on = await start(FAST_HEALTH);
    const dead = on.sim.workers[1]!;
    await dead.kill();

    const unnoticed = await Promise.all([
      askFor(on, dead.url),
      askFor(on, dead.address, { 'x-envoy-max-retries': '5', 'x-envoy-retry-on': '5xx,connect-failure' }),
    ]);
    await untilStatus(on, 1, 'not_ready');
    const noticed = await askFor(on, dead.url);
    const shifted = await askFor(on, '1');

    for (const answer of unnoticed) {
      expect(answer.status).toBe(503);
      expect(answer.headers['x-smg-error-code']).toMatch(/^(call_upstream_connection_failed|no_available_workers)$/);
      expect(answer.headers['x-smg-routed-worker-id']).toBeUndefined();
    }
    expectMiss(noticed);
    // The index counts who can serve now (decisions 3).
    expect([shifted.status, shifted.headers['x-sim-worker']]).toEqual([200, 'sim-3']);
    expect([on.sim.workers[0]!.seen.requests, on.sim.workers[2]!.seen.requests]).toEqual([0, 1]);
  });

  it('a removed target: 503; one that is added: its answer, from the first moment it is ready', async () => {
    const on = await start();
    const removed = on.sim.workers[1]!;
    const path = `/workers/${encodeURIComponent(removed.url)}`;

    expect((await on.service.admin(path, { method: 'DELETE' })).status).toBe(202);
    for (let i = 0; i < 20; i++) expectMiss(await askFor(on, removed.url));
    expect((await on.service.admin('/workers', { body: { url: removed.url } })).status).toBe(202);
    const first = await until(async () => {
      const answer = await askFor(on, removed.url);
      if (answer.status !== 200) expectMiss(answer);
      return answer.status === 200 ? answer : null;
    }, 'the new worker answers');

    expect(first.headers['x-sim-worker']).toBe(removed.name);
    expect(seen(on)).toEqual([0, 1, 0]);
  });

  it('other policies ignore it', async () => {
    stack = await startStack({ flags: ['--policy', 'round_robin', '--log-level', 'warn'] });

    const answers = [await askFor(stack, '2'), await askFor(stack, 'nonsense')];

    expect(answers.map(({ headers }) => headers['x-sim-worker'])).toEqual(['sim-1', 'sim-2']);
  });

  it('an empty or non-ASCII value is no target', async () => {
    const on = await start();
    const headers = ['x-smg-target-worker', Buffer.from('é').toString('latin1')];
    const path = '/v1/chat/completions';

    const empty = await askFor(on, '');
    const odd = await ask(on.url, { path, headers, body: { model: 'sim-model', rid: 'conv_t1' } });

    expect([empty.status, odd.status]).toEqual([200, 200]);
    expect(empty.headers['x-sim-worker']).toBe(odd.headers['x-sim-worker']);
  });
});
