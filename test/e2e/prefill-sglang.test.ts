import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pieces } from '../support/bodies.ts';
import { type Answer, ask, http2Client, noEnvoy, type Outgoing, start, until } from '../support/services.ts';
import { after, beginning, failing, hanging, resetting, SplitEngine } from '../support/split-engines.ts';
import { type Front, startFront } from '../support/stack.ts';

const CHAT = '/v1/chat/completions';
const BODY_LIMIT = 262_144;
const FLAGS: readonly string[] = [
  ...['--pd-disaggregation', '--policy', 'round_robin', '--routing-key-override', '--log-level', 'warn', '--dp-aware'],
  ...['--retry-initial-backoff-ms', '1', '--retry-max-backoff-ms', '5', '--cb-failure-threshold', '1000'],
  ...['--envoy-body-limit', String(BODY_LIMIT), '--model-alias', 'short=m'],
];

/** Envoy keeps open at the service: ADS, and one access log for each thread. */
const STANDING_CALLS = 2;
const BATCHES = 2;

describe.skipIf(noEnvoy())('decisions 27 prefill beside decode, as SGLang wants it, through a real Envoy', () => {
  const closers: (() => Promise<void> | void)[] = [];
  const engines: SplitEngine[] = [];
  let front: Front;
  /** Model `m`. */
  let p1: SplitEngine;
  let p2: SplitEngine;
  let d1: SplitEngine;
  let d2: SplitEngine;
  /** Model `ranked`, two ranks each. */
  let rankedP: SplitEngine;
  let rankedD: SplitEngine;

  beforeAll(async () => {
    const engine = async (name: string, model: string, ranks = 0): Promise<SplitEngine> => {
      const started = await SplitEngine.start({ name, model, ranks, kind: 'sglang' });
      engines.push(started);
      closers.push(() => started.dies());
      return started;
    };
    [p1, p2, d1, d2] = [
      await engine('p1', 'm'),
      await engine('p2', 'm'),
      await engine('d1', 'm'),
      await engine('d2', 'm'),
    ];
    [rankedP, rankedD] = [await engine('ranked-p', 'ranked', 2), await engine('ranked-d', 'ranked', 2)];
    const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-pd-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const config = {
      prefill_workers: [p1, p2, rankedP].map(({ url }, at) => ({ url, bootstrap_port: 9001 + at })),
      decode_workers: [d1, d2, rankedD].map(({ url }) => ({ url })),
    };
    writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
    front = await startFront({ settings: [...FLAGS, '--config', join(folder, 'config.yaml')], known: 8 });
    closers.push(() => front.close());
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });
  beforeEach(async () => {
    await until(async () => (await inFlight()) === 0, 'nothing is in flight');
    for (const engine of engines) {
      engine.got.length = 0;
      engine.answer = engine.usual;
    }
  });

  const chat = (body: object, out: Outgoing = {}): Promise<Answer> =>
    ask(front.envoy.url, { path: CHAT, body: { model: 'm', messages: [], ...body }, ...out });
  const inFlight = async () => (await front.service.metrics()).sum('smg_worker_requests_active');
  const counted = async (name: string, labels: Record<string, string> = {}) =>
    (await front.service.metrics()).sum(name, labels);
  const legs = async () => {
    const now = await front.service.metrics();
    const on = (...of: SplitEngine[]) =>
      of.reduce((sum, { url }) => sum + now.sum('smg_worker_requests_active', { worker: url }), 0);
    return [on(p1, p2), on(d1, d2)];
  };
  const prefills = () => [p1, p2].flatMap((engine) => engine.got);
  const decodes = () => [d1, d2].flatMap((engine) => engine.got);
  const stamp = ({ headers }: Answer) => headers['x-smg-routed-worker-id'];

  describe('policies 4.3: both legs get the room', () => {
    const body = Buffer.from('{"model":"m","messages":[{"role":"user","content":"ü"}],"stream":true}');
    const JSON_TYPE = { 'content-type': 'application/json' };

    it.each<[how: string, send: () => Promise<Answer>]>([
      ['HTTP/1.1 with a length', () => chat({}, { body })],
      ['HTTP/1.1 in chunks', () => chat({}, { method: 'POST', headers: JSON_TYPE, body: pieces(body, 20) })],
      [
        'HTTP/2',
        async () => {
          const client = http2Client(front.envoy.url);
          const answer = await client.ask({ path: CHAT, method: 'POST', headers: JSON_TYPE, body: [body] });
          client.close();
          return answer;
        },
      ],
    ])('%s', async (_, send) => {
      const answer = await send();
      await until(() => prefills().length === 1, 'the prefill worker has it');
      const [prefill, decode] = [prefills()[0], decodes()[0]];
      const port = p1.got.length === 1 ? 9001 : 9002;
      const [, room] = /"bootstrap_room":(\d+)/.exec(decode?.text ?? '') ?? [];
      const front = `{"bootstrap_host":"127.0.0.1","bootstrap_port":${port},"bootstrap_room":${room},`;
      expect(decode?.text).toBe(front + body.toString().slice(1));
      expect(prefill?.text).toBe(decode?.text);
      expect(BigInt(room ?? -1)).toBeLessThan(2n ** 63n);
      expect(prefill?.headers['content-length']).toBe(String(Buffer.byteLength(prefill?.text ?? '')));
      expect(decode?.headers).not.toHaveProperty('content-length');
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/event-stream']);
      expect(stamp(answer)).toBe([d1, d2].find(({ name }) => name === answer.headers['x-engine'])?.url);
    });

    it('no two requests meet in one', async () => {
      await Promise.all(Array.from({ length: 8 }, () => chat({})));
      expect(new Set(decodes().map(({ text }) => /"bootstrap_room":(\d+)/.exec(text)?.[1])).size).toBe(8);
    });
  });

  it('an alias is replaced on both legs', async () => {
    await chat({ model: 'short' });
    await until(() => prefills().length === 1, 'the prefill worker has it');
    expect([prefills()[0]?.json.model, decodes()[0]?.json.model]).toEqual(['m', 'm']);
  });

  it('policies 4.3: ranks are told to both legs, and that of the decode leg is named', async () => {
    for (let i = 0; i < 4; i++) {
      const answer = await chat({ model: 'ranked' });
      await until(() => rankedP.got.length === i + 1, 'the prefill worker has it');
      const [prefill, decode] = [rankedP.last?.json, rankedD.last?.json];
      expect(decode.disagg_prefill_dp_rank).toBe(prefill.routed_dp_rank);
      expect(stamp(answer)).toBe(`${rankedD.url}@${decode.routed_dp_rank}`);
    }
    for (const { got } of [rankedP, rankedD])
      expect(new Set(got.map(({ json }) => json.routed_dp_rank))).toEqual(new Set([0, 1]));
  });

  it('the decode begins while the prefill still runs; both count, and a client that leaves ends both', async () => {
    for (const engine of [p1, p2]) engine.answer = hanging;
    for (const engine of [d1, d2]) engine.answer = beginning;
    const exchange = start(front.envoy.url, { path: CHAT, body: { model: 'm', rid: 'k', stream: true } });
    expect(await exchange.headers).toBe(200);
    expect([p1.running + p2.running, d1.running + d2.running]).toEqual([1, 1]);
    expect(await legs()).toEqual([1, 1]);

    exchange.abort();
    await until(() => [p1, p2, d1, d2].every(({ running }) => running === 0), 'both were ended');
    await until(async () => (await inFlight()) === 0, 'nothing is in flight');
    expect(await counted('smg_envoy_prefill_failures_total')).toBe(0);
  });

  it('a prefill that is over first counts no more', async () => {
    for (const engine of [d1, d2]) engine.answer = beginning;
    const exchange = start(front.envoy.url, { path: CHAT, body: { model: 'm', stream: true } });
    await exchange.headers;
    await until(async () => String(await legs()) === '0,1', 'the decode worker counts alone');
    exchange.abort();
  });

  it.each<[how: string, answer: typeof hanging, reason: string]>([
    ['answers with an error', failing(500), 'status'],
    ['breaks off', resetting, 'connection'],
  ])(
    'one that %s beside its decode is counted, and the client gets what the decode worker makes of it',
    async (_, how, reason) => {
      for (const engine of [p1, p2]) engine.answer = how;
      for (const engine of [d1, d2]) engine.answer = after(100, engine.usual);
      const labels = { phase: 'beside_decode', reason };
      const before = await counted('smg_envoy_prefill_failures_total', labels);
      expect((await chat({})).status).toBe(200);
      expect((await counted('smg_envoy_prefill_failures_total', labels)) - before).toBe(1);
      const breakers = { outcome: 'failure', worker: p1.url };
      const others = { outcome: 'failure', worker: p2.url };
      const failures = async (by: Record<string, string>) => counted('smg_worker_cb_outcomes_total', by);
      expect((await failures(breakers)) + (await failures(others))).toBeGreaterThan(0);
      expect(await counted('smg_worker_cb_outcomes_total', { outcome: 'failure', worker: d1.url })).toBe(0);
    },
  );

  it('a prefill worker that cannot be reached is passed over before the decode begins', async () => {
    await p1.dies();
    const statuses = [await chat({}), await chat({})].map(({ status }) => status);
    await p1.returns();
    expect([statuses, p2.got.length, decodes().length]).toEqual([[200, 200], 2, 2]);
    for (const { json } of decodes()) expect(json.bootstrap_port).toBe(9002);
  });

  it('a decode that fails goes on with the same room', async () => {
    d1.answer = failing(503);
    const answers = [await chat({}), await chat({})];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(stamp)).toEqual([d2.url, d2.url]);
    await until(() => prefills().length === 2, 'the prefill workers have them');
    expect(d2.got.filter(({ text }) => text === d1.got[0]?.text)).toHaveLength(1);
  });

  it('a body over the limit cannot name a room', async () => {
    const content = 'x'.repeat(BODY_LIMIT);
    const answer = await chat({ messages: [{ role: 'user', content }] });
    expect([answer.status, answer.headers['x-smg-error-code']]).toEqual([413, 'request_body_too_large']);
    expect([prefills().length, decodes().length]).toEqual([0, 0]);
    expect(await counted('smg_pd_bootstrap_failures_total')).toBe(1);
  });

  it('requests whose clients leave at any time leave nothing behind', async () => {
    for (const engine of engines) {
      engine.answer = after(60, engine.usual);
      engine.left = 0;
    }
    const ended = await counted('smg_envoy_releases_total');
    for (let batch = 0; batch < BATCHES; batch++) {
      // Of the last batch every client leaves before an answer.
      const last = batch === BATCHES - 1;
      if (last) for (const engine of engines) engine.answer = hanging;
      const exchanges = Array.from({ length: 200 }, (_, i) =>
        start(front.envoy.url, { path: CHAT, body: { model: 'm', rid: `k${i}`, messages: [] } }),
      );
      if (last) await until(() => p1.running + p2.running > 0 && d1.running + d2.running > 0, 'both legs of some run');
      for (const [i, exchange] of exchanges.entries()) setTimeout(() => exchange.abort(), 200 + 2 * i);
      await Promise.allSettled(exchanges.map(({ answer }) => answer));
    }
    await until(() => [p1, p2, d1, d2].every(({ running }) => running === 0), 'no engine works');
    // Long before three silent intervals would end a pick of which nothing is heard (decisions 7).
    await until(async () => (await inFlight()) === 0, 'nothing is in flight', 15_000);
    expect(await counted('smg_envoy_releases_total', { reason: 'periodic_lost' })).toBe(0);
    await until(async () => (await counted('smg_envoy_open_calls')) <= STANDING_CALLS, 'no stream is left');
    expect(await counted('smg_envoy_picks_in_flight')).toBe(0);
    // Some left before their request was placed, some beside the prefill, some got their answer.
    expect((await counted('smg_envoy_releases_total')) - ended).toBeGreaterThan(100);
    expect([p1.left + p2.left > 0, d1.left + d2.left > 0]).toEqual([true, true]);
  });

  it('with the service away a decode worker gets no room, and says so', async () => {
    for (const engine of [d1, d2]) {
      engine.answer = (response, got, request) => {
        const known = got.json?.bootstrap_room !== undefined;
        (known ? engine.usual : failing(400, 'Disaggregated request received without bootstrap room id.'))(
          response,
          got,
          request,
        );
      };
    }
    expect((await chat({})).status).toBe(200);
    await front.service.kill();
    const answers: Answer[] = [];
    for (let i = 0; i < 6; i++) answers.push(await chat({}));
    expect(answers.filter(({ status }) => status === 400).length).toBeGreaterThan(0);
    expect(prefills().length).toBe(1);
  });
});
