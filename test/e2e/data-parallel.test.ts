import { afterEach, describe, expect, it } from 'vitest';
import { pieces, sha256 } from '../support/bodies.ts';
import {
  type Answer,
  ask,
  FAST_HEALTH,
  noEnvoy,
  type Outgoing,
  type Stack,
  type StackOptions,
  startStack,
  until,
} from '../support/services.ts';

const CHAT = '/v1/chat/completions';
const JSON_TYPE = { 'content-type': 'application/json' };
const BASE = ['--policy', 'round_robin', '--dp-aware', '--log-level', 'warn'];

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

/** Two engines of two ranks unless the options say otherwise. */
async function start(flags: readonly string[] = [], options: StackOptions = {}): Promise<Stack> {
  const sim = { count: 2, dpSize: 2, digest: true, ...options.sim };
  stack = await startStack({ ...options, sim, flags: [...BASE, ...flags] });
  return stack;
}

const chat = (on: Stack, more: object = {}, out: Outgoing = {}): Promise<Answer> =>
  ask(on.url, { path: CHAT, headers: JSON_TYPE, body: { model: 'sim-model', messages: [], ...more }, ...out });

/** Who answered, by the worker's own word, and by the stamp. */
const who = ({ headers }: Answer) => `${headers['x-sim-worker']}@${headers['x-sim-rank']}`;
const stampOf = (on: Stack, answer: Answer) => {
  const worker = on.sim.workers.find(({ name }) => name === answer.headers['x-sim-worker']);
  return `${worker?.url}@${answer.headers['x-sim-rank']}`;
};

const workersOf = async (on: Stack): Promise<{ id: string; load: number; status: string; breaker: string }[]> =>
  (await on.service.admin('/workers')).json.workers;

describe.skipIf(noEnvoy())('policies 2.4, decisions 46 data-parallel ranks through a real Envoy', () => {
  it('round_robin gives every rank of every engine the same, and the stamp tells which it was', async () => {
    const on = await start();
    const answers: Answer[] = [];
    for (let i = 0; i < 40; i++) answers.push(await chat(on));

    const counts = new Map<string, number>();
    for (const answer of answers) {
      expect([answer.status, answer.headers['x-smg-routed-worker-id']]).toEqual([200, stampOf(on, answer)]);
      counts.set(who(answer), (counts.get(who(answer)) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).toEqual({ 'sim-1@0': 10, 'sim-1@1': 10, 'sim-2@0': 10, 'sim-2@1': 10 });

    const shown = await workersOf(on);
    expect(shown.map(({ id }) => id)).toEqual(on.sim.urls.flatMap((url) => [`${url}@0`, `${url}@1`]));
    await until(async () => (await workersOf(on)).every(({ load }) => load === 0), 'nothing counts as in flight');
    const metrics = await on.service.metrics();
    for (const { id } of shown) {
      expect(metrics.sum('smg_worker_cb_outcomes_total', { worker: id, outcome: 'success' })).toBe(10);
    }
  });

  it('a conversation stays on its rank', async () => {
    const on = await start(['--routing-key-override']);
    const homes = new Map<string, Set<string>>();
    for (let turn = 1; turn <= 6; turn++) {
      for (let conversation = 0; conversation < 12; conversation++) {
        const answer = await chat(on, { rid: `c${conversation}_t${turn}` });
        expect(answer.headers['x-smg-routed-worker-id']).toBe(stampOf(on, answer));
        const seen = homes.get(`c${conversation}`) ?? new Set();
        homes.set(`c${conversation}`, seen.add(who(answer)));
      }
    }
    expect([...homes.values()].every((seen) => seen.size === 1)).toBe(true);
    expect(new Set([...homes.values()].flatMap((seen) => [...seen])).size).toBe(4);
    expect((await on.service.metrics()).sum('smg_envoy_pin_moves_total')).toBe(0);
  });

  it.each([
    ['a length', (body: Buffer): Outgoing => ({ body, method: 'POST' })],
    ['chunks', (body: Buffer): Outgoing => ({ body: pieces(body), method: 'POST' })],
  ])('every other byte of the body is as it was sent, 1 MB with %s', async (_, outgoing) => {
    const on = await start();
    const text = `"model":"sim-model","messages":[{"role":"user","content":"${'x'.repeat(1_000_000)}"}]}`;
    const answer = await chat(on, {}, outgoing(Buffer.from(`{${text}`)));

    expect(answer.headers['x-sim-body-sha256']).toBe(
      sha256(`{"data_parallel_rank":${answer.headers['x-sim-rank']},${text}`),
    );
  });

  it("a client's own rank is replaced", async () => {
    const on = await start();
    const answers = await Promise.all([0, 1, 2, 3].map(() => chat(on, { data_parallel_rank: 7 })));

    expect(answers.map(who).sort()).toEqual(['sim-1@0', 'sim-1@1', 'sim-2@0', 'sim-2@1']);
  });

  it('a request without a JSON body goes to the engine alone: its stamp has no rank', async () => {
    const on = await start();
    const form = { 'content-type': 'multipart/form-data; boundary=x' };
    const answers = [
      await ask(on.url, { path: '/v1/models' }),
      await ask(on.url, { path: CHAT, method: 'POST', headers: form, body: '--x--' }),
    ];
    for (const answer of answers) {
      const worker = on.sim.workers.find(({ name }) => name === answer.headers['x-sim-worker']);
      expect([answer.status, answer.headers['x-smg-routed-worker-id']]).toEqual([200, worker?.url]);
    }
    expect(answers[1]?.headers['x-sim-rank']).toBe('none');
    const metrics = await on.service.metrics();
    expect(metrics.sum('smg_envoy_body_edits_total', { member: 'data_parallel_rank', result: 'not_whole' })).toBe(2);
    await until(async () => (await workersOf(on)).every(({ load }) => load === 0), 'nothing counts as in flight');
  });

  it.each([
    ['name', /^sim-engine@[01]$/],
    ['hash', /^[0-9a-f]{16}@[01]$/],
    ['off', /^$/],
  ])('--routed-worker-id %s', async (kind, form) => {
    const config = (urls: readonly string[]) =>
      `workers:\n${urls.map((url) => `  - {url: "${url}", name: sim-engine}`).join('\n')}\n`;
    const on = await start(['--routed-worker-id', kind], { config, known: 0 });
    await until(async () => (await chat(on)).headers['x-sim-rank'] !== undefined, 'the ranks are there');
    const stamps: string[] = [];
    for (let i = 0; i < 8; i++) {
      const answer = await chat(on);
      const stamp = answer.headers['x-smg-routed-worker-id'] ?? '';
      expect(stamp).toMatch(form);
      if (stamp !== '') expect(stamp.split('@')[1]).toBe(answer.headers['x-sim-rank']);
      stamps.push(stamp);
    }
    expect(new Set(stamps).size).toBe({ name: 2, hash: 4, off: 1 }[kind]);
  });

  it('after a failure the other engine serves the same rank, and is stamped and pinned', async () => {
    const on = await start(['--routing-key-override', '--retry-initial-backoff-ms', '1']);
    const first = await chat(on, { rid: 'k_t1' });
    const failing = on.sim.workers.find(({ name }) => name === first.headers['x-sim-worker']);
    failing?.set({ failRate: 1 });

    const second = await chat(on, { rid: 'k_t2' });
    expect(second.status).toBe(200);
    expect(second.headers['x-sim-worker']).not.toBe(first.headers['x-sim-worker']);
    expect(second.headers['x-sim-rank']).toBe(first.headers['x-sim-rank']);
    expect(second.headers['x-smg-routed-worker-id']).toBe(stampOf(on, second));

    failing?.set({ failRate: 0 });
    await until(async () => (await on.service.metrics()).sum('smg_envoy_pin_moves_total') === 1, 'the pin moved');
    expect(who(await chat(on, { rid: 'k_t3' }))).toBe(who(second));
    // The failed attempt was of one rank alone.
    const metrics = await on.service.metrics();
    expect(metrics.sum('smg_worker_cb_outcomes_total', { outcome: 'failure' })).toBe(1);
    expect(
      metrics.sum('smg_worker_cb_outcomes_total', {
        outcome: 'failure',
        worker: `${failing?.url}@${first.headers['x-sim-rank']}`,
      }),
    ).toBe(1);
  });

  it('only the rank that keeps failing loses its requests', async () => {
    const on = await start(['--cb-failure-threshold', '3', '--retry-initial-backoff-ms', '1']);
    const breakers = async () => (await workersOf(on)).map(({ breaker }) => breaker);
    const failing = { headers: { ...JSON_TYPE, 'x-sim': '{"fail_rate":1}' } };
    // Every fourth request is for the second rank of the first engine; with its retries it fails on that rank alone.
    await until(async () => {
      await chat(on);
      await chat(on, {}, failing);
      await Promise.all([chat(on), chat(on)]);
      return (await breakers()).includes('open');
    }, 'a breaker is open');

    const [a0, a1, b0, b1] = await breakers();
    expect([a0, b0]).toEqual(['closed', 'closed']);
    expect([a1, b1]).toContain('open');
  });

  it('an engine that goes away and comes back with other ranks is known with them', async () => {
    const on = await start(FAST_HEALTH);
    const [engine] = on.sim.workers;
    await engine?.kill();
    await until(async () => (await workersOf(on)).filter(({ status }) => status === 'ready').length === 2, 'it is out');
    for (let i = 0; i < 4; i++) expect((await chat(on)).headers['x-sim-worker']).toBe('sim-2');

    engine?.set({ dpSize: 3 });
    await engine?.restart();
    await until(
      async () => (await workersOf(on)).filter(({ status }) => status === 'ready').length === 5,
      'it is back',
    );
    const answers: Answer[] = [];
    for (let i = 0; i < 10; i++) answers.push(await chat(on));
    expect(new Set(answers.map(who)).size).toBe(5);
    for (const answer of answers) expect(answer.headers['x-smg-routed-worker-id']).toBe(stampOf(on, answer));
  });

  it('a rank that the other engine lacks is tried nowhere else', async () => {
    const on = await start(['--retry-initial-backoff-ms', '1'], { sim: { count: 2, dpSize: 1 }, known: 2 });
    expect((await workersOf(on)).map(({ id }) => id)).toEqual(on.sim.urls);
    on.sim.workers[0]?.set({ dpSize: 3 });
    const base = encodeURIComponent(on.sim.urls[0] ?? '');
    await on.service.admin(`/workers/${base}`, { method: 'DELETE' });
    await on.service.admin('/workers', { method: 'POST', body: { url: on.sim.urls[0] } });
    await until(async () => (await workersOf(on)).filter(({ status }) => status === 'ready').length === 4, 'ranks');
    on.sim.workers[0]?.set({ failRate: 1 });

    const before = on.sim.workers[1]?.seen.requests ?? 0;
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) statuses.push((await chat(on)).status);
    // Two of the eight were for the engine without ranks; the others got the failure of the rank that they named.
    expect(statuses.filter((status) => status === 503)).toHaveLength(6);
    expect((on.sim.workers[1]?.seen.requests ?? 0) - before).toBe(2);
  });
});
