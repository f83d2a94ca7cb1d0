import { afterEach, describe, expect, it } from 'vitest';
import type { SimWorker } from '../../src/sim/worker.ts';
import { type Play, type Played, play } from '../support/conversations.ts';
import { ask, FAST_HEALTH, noEnvoy, type Stack, type StackOptions, startStack, until } from '../support/services.ts';

const OVERRIDE = ['--policy', 'round_robin', '--routing-key-override', '--log-level', 'warn'];

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

async function start(flags: readonly string[], options: StackOptions = {}): Promise<Stack> {
  stack = await startStack({
    sim: { count: 4, firstTokenMs: 2 },
    concurrency: 2,
    ...options,
    flags: [...OVERRIDE, ...flags],
  });
  return stack;
}

/** Plays on a stack and holds what is true of every play: each turn answered, and by the worker that it names. */
async function playOn(on: Stack, options: Omit<Play, 'url' | 'key'>): Promise<Played> {
  const played = await play({ url: on.url, key: 'rid', ...options });
  expect(played.errors).toEqual([]);
  expect(played.turns).toHaveLength(options.conversations * options.turns);
  expect(played.wrongStamps(on.sim.workers)).toEqual([]);
  return played;
}

async function viewOf(on: Stack, worker: SimWorker): Promise<{ status: string; breaker: string }> {
  return (await on.service.admin(`/workers/${encodeURIComponent(worker.url)}`)).json;
}

async function untilStatus(on: Stack, worker: SimWorker, status: string): Promise<void> {
  await until(async () => {
    return (await viewOf(on, worker)).status === status;
  }, `${worker.name} is ${status}`);
}

/** Pins that left a worker: along with a retry, or, once ten failures opened its breaker, with their next turn. */
async function moves(on: Stack): Promise<number> {
  const metrics = await on.service.metrics();
  const misses = metrics.sum('smg_manual_policy_branch_total', { branch: 'occupied_miss' });
  return metrics.sum('smg_envoy_pin_moves_total') + misses;
}

/** The last worker of each conversation. */
function homes(played: Played): ReadonlyMap<string, string> {
  return new Map([...played.paths].map(([id, path]) => [id, path.at(-1) ?? '']));
}

function keysAt(at: ReadonlyMap<string, string>, worker: string): string[] {
  return [...at].filter(([, home]) => home === worker).map(([id]) => id);
}

describe.skipIf(noEnvoy())('a worker is killed in the middle of 3,000 requests', () => {
  it('no client sees it, and exactly its conversations move, once', async () => {
    const on = await start([]);
    const dead = on.sim.workers[1]!;
    let killed: Promise<void> | undefined;

    const played = await playOn(on, {
      conversations: 300,
      turns: 10,
      abreast: true,
      onTurn: (done) => {
        if (done === 1500) killed = dead.kill();
      },
    });
    await killed;

    const began = (path: readonly string[]) => path[0] === dead.name;
    const paths = [...played.paths.values()];
    expect(paths.filter((path) => began(path) && path.length !== 2)).toEqual([]);
    expect(paths.filter((path) => !began(path) && path.length !== 1)).toEqual([]);
    expect(paths.filter(began)).toHaveLength(75);
    // They spread over all that are left.
    expect(new Set(paths.filter(began).map((path) => path[1])).size).toBe(3);
    expect(await moves(on)).toBe(75);
    expect((await on.service.metrics()).sum('smg_envoy_fail_open_total')).toBe(0);
  });
});

describe.skipIf(noEnvoy())('a dead worker that no health check has noticed', () => {
  it('conversations that begin meanwhile stay whole, each turn sent at once after the last', async () => {
    const on = await start([]);
    const dead = on.sim.workers[0]!;
    await dead.kill();

    const played = await playOn(on, { conversations: 100, turns: 6 });

    expect(played.splits).toEqual([]);
    // Of the 25 that would begin there, those before ten failures opened its breaker.
    const moved = await moves(on);
    expect(moved).toBeGreaterThanOrEqual(10);
    expect(moved).toBeLessThan(25);
    expect(Object.keys(played.spread)).toHaveLength(3);
  });
});

describe.skipIf(noEnvoy())('sticky-sessions 3.7: a killed worker returns', () => {
  it.for([
    ['delegate', 'stays'],
    ['min_load', 'returns'],
  ] as const)('under %s a conversation %s', async ([mode, where]) => {
    const on = await start([...FAST_HEALTH, '--cb-timeout-duration-secs', '1', '--assignment-mode', mode]);
    const lost = on.sim.workers[2]!;
    const part = { conversations: 40, turns: 2, abreast: true };

    const before = homes(await playOn(on, part));
    await lost.kill();
    const unnoticed = homes(await playOn(on, { ...part, from: 3 }));
    await untilStatus(on, lost, 'not_ready');
    const noticed = homes(await playOn(on, { ...part, from: 5 }));
    await lost.restart();
    await untilStatus(on, lost, 'ready');
    await until(async () => (await viewOf(on, lost)).breaker !== 'open', 'its breaker lets requests through');
    const after = homes(await playOn(on, { ...part, from: 7 }));

    const moved = keysAt(before, lost.name);
    expect(moved.length).toBeGreaterThanOrEqual(4);
    expect(keysAt(unnoticed, lost.name)).toEqual([]);
    expect(noticed).toEqual(unnoticed);
    for (const [id, home] of before) if (home !== lost.name) expect(after.get(id), id).toBe(home);
    for (const id of moved) expect(after.get(id), id).toBe(where === 'stays' ? noticed.get(id) : lost.name);
  });
});

describe.skipIf(noEnvoy())('adr 0006: a worker that fails while it counts as healthy', () => {
  it.for([500, 502, 503, 429])('status %i: its conversations move once, and it is left alone', async (status) => {
    const on = await start([], { sim: { count: 3 } });
    const sick = on.sim.workers[0]!;
    const part = { conversations: 30, turns: 2, abreast: true };

    const before = homes(await playOn(on, part));
    sick.set({ failRate: 1, failStatus: status });
    const asked = sick.seen.requests;
    const failing = homes(await playOn(on, { ...part, from: 3 }));
    const attempts = sick.seen.requests - asked;
    sick.set({ failRate: 0 });
    const healed = homes(await playOn(on, { ...part, from: 5 }));

    const moved = keysAt(before, sick.name);
    expect(moved).toHaveLength(10);
    expect(attempts).toBe(10);
    expect(keysAt(failing, sick.name)).toEqual([]);
    expect(healed).toEqual(failing);
    expect(sick.seen.requests - asked).toBe(10);
  });

  it('a connection that is reset before any answer', async () => {
    const on = await start([], { sim: { count: 3 } });
    const sick = on.sim.workers[0]!;
    const part = { conversations: 30, turns: 2, abreast: true };

    const before = homes(await playOn(on, part));
    sick.set({ resetRate: 1 });
    const failing = homes(await playOn(on, { ...part, from: 3 }));
    sick.set({ resetRate: 0 });
    const healed = homes(await playOn(on, { ...part, from: 5 }));

    expect(keysAt(before, sick.name)).toHaveLength(10);
    expect(keysAt(failing, sick.name)).toEqual([]);
    expect(healed).toEqual(failing);
  });

  it('a worker that hangs and then dies', async () => {
    const on = await start([], { sim: { count: 3 } });
    const sick = on.sim.workers[0]!;
    const part = { conversations: 30, turns: 1, concurrency: 30 };

    const before = homes(await playOn(on, part));
    sick.set({ hangRate: 1 });
    const running = playOn(on, { ...part, from: 2 });
    await until(() => sick.seen.running === 10, 'its ten requests hang');
    await sick.kill();
    const after = homes(await running);
    const later = homes(await playOn(on, { ...part, from: 3 }));

    expect(keysAt(before, sick.name)).toHaveLength(10);
    expect(keysAt(after, sick.name)).toEqual([]);
    expect(later).toEqual(after);
  });

  it('an answer that breaks off is not repeated, and the key stays', async () => {
    const on = await start([], { sim: { count: 3 } });
    const part = { conversations: 3, turns: 1 };
    const before = homes(await playOn(on, part));
    const asked = on.sim.workers.map((worker) => worker.seen.requests);

    on.sim.set({ dropRate: 1 });
    const broken = await play({ url: on.url, key: 'rid', ...part, from: 2 });
    on.sim.set({ dropRate: 0 });
    const after = homes(await playOn(on, { ...part, from: 3 }));

    expect(broken.errors).toHaveLength(3);
    expect(on.sim.workers.map((worker, at) => worker.seen.requests - asked[at]!)).toEqual([2, 2, 2]);
    expect(after).toEqual(before);
  });

  it('all workers fail: the last answer goes to the client, and says whose it is', async () => {
    const on = await start(['--retry-initial-backoff-ms', '1'], { sim: { count: 3, failRate: 1, failStatus: 503 } });

    const answer = await ask(on.url, { path: '/v1/chat/completions', body: { model: 'sim-model', rid: 'a' } });

    expect(answer.status).toBe(503);
    expect(answer.json.error.code).toBe('sim_failure');
    const last = on.sim.workers.find((worker) => worker.name === answer.headers['x-sim-worker']);
    expect(answer.headers['x-smg-routed-worker-id']).toBe(last?.url);
    // Every worker was asked before any was asked again.
    for (const worker of on.sim.workers) expect(worker.seen.requests).toBeGreaterThan(0);
    expect(on.sim.workers.reduce((sum, worker) => sum + worker.seen.requests, 0)).toBe(5);
  });

  it('all workers are gone: 503 in the envelope, without a worker', async () => {
    const on = await start(['--retry-initial-backoff-ms', '1'], { sim: { count: 2 } });
    await on.sim.close();

    const answer = await ask(on.url, { path: '/v1/chat/completions', body: { model: 'sim-model', rid: 'a' } });

    expect(answer.status).toBe(503);
    expect(answer.headers['x-smg-error-code']).toBe('call_upstream_connection_failed');
    expect(answer.json.error.code).toBe('call_upstream_connection_failed');
    expect(answer.headers['x-smg-routed-worker-id']).toBeUndefined();
  });
});

describe.skipIf(noEnvoy())('decisions 40: a worker leaves', () => {
  it('drain keeps its conversations and takes no new ones; undrain takes it back; DELETE moves them', async () => {
    const on = await start([], { sim: { count: 3 } });
    const leaving = on.sim.workers[1]!;
    const old = { conversations: 30, turns: 2, abreast: true, prefix: 'old' };
    const admin = async (method: string, suffix: string): Promise<void> => {
      const path = `/workers/${encodeURIComponent(leaving.url)}${suffix}`;
      expect((await on.service.admin(path, { method })).status).toBe(202);
    };

    const before = homes(await playOn(on, old));
    await admin('POST', '/drain');
    await until(async () => (await on.endpoints()).get(leaving.address) === 'draining', 'Envoy knows of the drain');
    const drained = homes(await playOn(on, { ...old, from: 3 }));
    const fresh = homes(await playOn(on, { conversations: 20, turns: 2, prefix: 'fresh' }));
    await admin('POST', '/undrain');
    await until(async () => (await on.endpoints()).get(leaving.address) === 'healthy', 'Envoy knows of its return');
    const back = homes(await playOn(on, { conversations: 20, turns: 2, prefix: 'back' }));
    await admin('DELETE', '');
    const gone = homes(await playOn(on, { ...old, from: 5 }));

    expect(keysAt(before, leaving.name)).toHaveLength(10);
    expect(drained).toEqual(before);
    expect(keysAt(fresh, leaving.name)).toEqual([]);
    expect(keysAt(back, leaving.name).length).toBeGreaterThan(4);
    expect(keysAt(gone, leaving.name)).toEqual([]);
    for (const [id, home] of before) if (home !== leaving.name) expect(gone.get(id), id).toBe(home);
    await until(async () => !(await on.endpoints()).has(leaving.address), 'Envoy has forgotten it');
  });

  it('DELETE lets a running request end', async () => {
    const on = await start([], { sim: { count: 2 } });
    const body = { model: 'sim-model', rid: 'a' };
    const path = '/v1/chat/completions';
    const running = ask(on.url, { path, body, headers: { 'x-sim': '{"first_token_ms":700}' } });
    const worker = await until(() => on.sim.workers.find(({ seen }) => seen.running === 1), 'the request runs');

    const answer = await on.service.admin(`/workers/${encodeURIComponent(worker.url)}`, { method: 'DELETE' });
    const next = await ask(on.url, { path, body });

    expect(answer.status).toBe(202);
    expect(next.status).toBe(200);
    expect(next.headers['x-sim-worker']).not.toBe(worker.name);
    const ended = await running;
    expect([ended.status, ended.headers['x-smg-routed-worker-id']]).toEqual([200, worker.url]);
    await until(async () => !(await on.endpoints()).has(worker.address), 'Envoy has forgotten it');
  });
});
