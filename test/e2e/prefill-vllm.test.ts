import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pieces } from '../support/bodies.ts';
import { editEnvoy } from '../support/edit-envoy.ts';
import { type EnvoyHandle, startEnvoy } from '../support/envoy.ts';
import { type Answer, ask, freePort, http2Client, noEnvoy, type Outgoing, start, until } from '../support/services.ts';
import { after, beginning, failing, hanging, SplitEngine } from '../support/split-engines.ts';
import { envoyConfig, type Front, startFront } from '../support/stack.ts';

const CHAT = '/v1/chat/completions';
const BODY_LIMIT = 262_144;
/** Of Envoy for an answer of the service, unless the service asks for more. */
const MESSAGE_TIMEOUT_MS = 1000;
const SLOW_MS = 1400;
const FLAGS: readonly string[] = [
  ...['--pd-disaggregation', '--policy', 'round_robin', '--routing-key-override', '--log-level', 'warn'],
  ...['--retry-initial-backoff-ms', '1', '--retry-max-backoff-ms', '5', '--cb-failure-threshold', '1000'],
  ...['--envoy-body-limit', String(BODY_LIMIT), '--model-alias', 'short=nixl', '--pd-prefill-timeout-secs', '20'],
];

const CONNECTORS = { nixl: 'NixlConnector', cake: 'MooncakeConnector' } as const;

describe.skipIf(noEnvoy())('decisions 27 prefill before decode, as vLLM wants it, through a real Envoy', () => {
  const closers: (() => Promise<void> | void)[] = [];
  const engines: SplitEngine[] = [];
  let front: Front;
  let settings: string[];
  /** Model `nixl`. */
  let p1: SplitEngine;
  let p2: SplitEngine;
  let d1: SplitEngine;
  let d2: SplitEngine;
  /** Model `cake`. */
  let cakeP: SplitEngine;
  let cakeD: SplitEngine;

  beforeAll(async () => {
    const engine = async (name: string, model: string): Promise<SplitEngine> => {
      const started = await SplitEngine.start({ name, model, kind: 'vllm' });
      engines.push(started);
      closers.push(() => started.dies());
      return started;
    };
    p1 = await engine('p1', 'nixl');
    p2 = await engine('p2', 'nixl');
    d1 = await engine('d1', 'nixl');
    d2 = await engine('d2', 'nixl');
    cakeP = await engine('p-cake', 'cake');
    cakeD = await engine('d-cake', 'cake');
    const [oddP, oddD] = [await engine('p-odd', 'odd'), await engine('d-odd', 'odd')];
    const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-pd-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const list = (...workers: [SplitEngine, keyof typeof CONNECTORS][]) =>
      workers.map(([{ url }, kv]) => ({
        ...{ url, kv_connector: CONNECTORS[kv] },
        ...(kv === 'cake' ? { bootstrap_port: 9001, kv_engine_id: 'eng' } : {}),
      }));
    const config = {
      prefill_workers: list([p1, 'nixl'], [p2, 'nixl'], [cakeP, 'cake'], [oddP, 'nixl']),
      decode_workers: list([d1, 'nixl'], [d2, 'nixl'], [cakeD, 'cake'], [oddD, 'cake']),
    };
    writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
    settings = [...FLAGS, '--config', join(folder, 'config.yaml')];
    front = await startFront({
      settings,
      known: 8,
      edit: (yaml) =>
        editEnvoy(yaml, ({ extProc }) => {
          extProc['message_timeout'] = `${MESSAGE_TIMEOUT_MS / 1000}s`;
        }),
    });
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
    ask(front.envoy.url, { path: CHAT, body: { model: 'nixl', messages: [], ...body }, ...out });
  const metrics = () => front.service.metrics();
  const inFlight = async () => (await metrics()).sum('smg_worker_requests_active');
  const loads = async () => {
    const now = await metrics();
    return [p1, p2, d1, d2].map(({ url }) => now.sum('smg_worker_requests_active', { worker: url }));
  };
  const counted = async (name: string, labels: Record<string, string> = {}) => (await metrics()).sum(name, labels);
  const stamp = ({ headers }: Answer) => headers['x-smg-routed-worker-id'];
  const got = (...of: SplitEngine[]) => of.flatMap((engine) => engine.got);
  const both = () => [got(p1, p2), got(d1, d2)] as const;

  describe('policies 4.4 NIXL: what each leg gets', () => {
    const body = { model: 'nixl', messages: [{ role: 'user', content: 'ü' }], max_tokens: 9, min_tokens: 2 };
    const bytes = (more: object) => Buffer.from(JSON.stringify({ ...body, ...more }));
    const JSON_TYPE = { 'content-type': 'application/json' };

    it.each<[how: string, stream: boolean, send: (body: Buffer) => Promise<Answer>]>([
      ['HTTP/1.1 with a length', false, (whole) => chat({}, { body: whole })],
      ['HTTP/1.1 with a length, streaming', true, (whole) => chat({}, { body: whole })],
      [
        'HTTP/1.1 in chunks',
        true,
        (whole) => chat({}, { method: 'POST', headers: JSON_TYPE, body: pieces(whole, 20) }),
      ],
      [
        'HTTP/2',
        true,
        async (whole) => {
          const client = http2Client(front.envoy.url);
          const answer = await client.ask({ path: CHAT, method: 'POST', headers: JSON_TYPE, body: [whole] });
          client.close();
          return answer;
        },
      ],
    ])('%s', async (_, stream, send) => {
      const answer = await send(bytes({ stream, stream_options: { include_usage: true } }));
      const [prefills, decodes] = both();
      expect([prefills.length, decodes.length]).toEqual([1, 1]);
      const { min_tokens: __, ...kept } = body;
      expect(prefills[0]?.json).toEqual({
        ...{ ...kept, max_tokens: 1, stream: false },
        kv_transfer_params: { do_remote_decode: true, do_remote_prefill: false },
      });
      expect(decodes[0]?.json).toEqual({
        ...{ ...body, stream, stream_options: { include_usage: true } },
        kv_transfer_params: { remote_engine_id: prefills.length && nameOf(prefills[0]), remote_block_ids: [1, 2] },
      });
      // Envoy does not know the length of the body that it hands on.
      expect(decodes[0]?.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
      expect(decodes[0]?.headers).not.toHaveProperty('content-length');
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe(stream ? 'text/event-stream' : 'application/json');
      expect(stamp(answer)).toBe([d1, d2].find(({ name }) => name === answer.headers['x-engine'])?.url);
    });

    const nameOf = (request: unknown) => engines.find((engine) => engine.got.includes(request as never))?.name;
  });

  it('policies 4.4 Mooncake: both legs know the transfer, and where the cache is', async () => {
    expect((await chat({ model: 'cake' })).status).toBe(200);
    const [prefill, decode] = [cakeP.last?.json.kv_transfer_params, cakeD.last?.json.kv_transfer_params];
    expect(prefill).toEqual({ do_remote_decode: true, do_remote_prefill: false, transfer_id: expect.any(String) });
    expect(prefill.transfer_id).toMatch(/^xfer-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(decode).toEqual({
      do_remote_decode: false,
      do_remote_prefill: true,
      transfer_id: prefill.transfer_id,
      remote_engine_id: 'eng',
      remote_bootstrap_addr: 'http://127.0.0.1:9001',
    });
  });

  it('the prefill goes out in the name of the client, who can say nothing of it', async () => {
    const headers = {
      authorization: 'Bearer client',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'x-request-id': 'mine',
      'x-prefiller-host-port': '10.9.9.9:1',
      'x-smg-target-worker': '0',
      cookie: 'secret',
    };
    await chat({}, { headers });
    const [[prefill], [decode]] = both();
    const { cookie, 'x-prefiller-host-port': _, 'x-smg-target-worker': __, ...kept } = headers;
    expect(prefill?.headers).toMatchObject(kept);
    expect(decode?.headers).toMatchObject({ ...kept, cookie });
    for (const name of ['x-prefiller-host-port', 'x-smg-target-worker']) {
      expect(prefill?.headers).not.toHaveProperty(name);
      expect(decode?.headers).not.toHaveProperty(name);
    }
  });

  it('an alias is replaced on both legs', async () => {
    await chat({ model: 'short' });
    expect(both().map(([request]) => request?.json.model)).toEqual(['nixl', 'nixl']);
  });

  it('several answers of one request need no prefill', async () => {
    expect((await chat({ n: 2 })).status).toBe(200);
    const [prefills, decodes] = both();
    expect([prefills.length, decodes[0]?.json]).toEqual([0, { model: 'nixl', messages: [], n: 2 }]);
  });

  it('tokens are counted by a prefill worker, which Envoy holds for unhealthy', async () => {
    for (let i = 0; i < 6; i++) {
      const answer = await ask(front.envoy.url, { path: '/v1/messages/count_tokens', body: { model: 'nixl' } });
      expect(answer.status).toBe(200);
    }
    expect([p1.got.length, p2.got.length, got(d1, d2).length]).toEqual([3, 3, 0]);
  });

  it('50 turns: keys stay on both legs, and only the one whose prefill worker dies moves, once', async () => {
    const homes = new Map<string, string[]>();
    const turn = async (key: string, number: number) => {
      for (const engine of engines) engine.got.length = 0;
      const answer = await chat({ rid: `${key}_t${number}` });
      const prefill = [p1, p2].filter((engine) => engine.got.length > 0).at(-1)?.name;
      const pair = `${prefill}/${answer.headers['x-engine']}`;
      expect([answer.status, stamp(answer)]).toEqual([200, engines.find(({ name }) => pair.endsWith(name))?.url]);
      homes.set(key, [...(homes.get(key) ?? []), pair]);
    };
    for (let number = 1; number <= 50; number++) {
      if (number === 21) await p1.dies();
      for (const key of ['a', 'b']) await turn(key, number);
    }
    await p1.returns();

    const kinds = [...homes.values()].map((pairs) => [...new Set(pairs)]);
    const moved = kinds.find((pairs) => pairs.length === 2) ?? [];
    const stayed = kinds.find((pairs) => pairs.length === 1) ?? [];
    expect(moved[0]).toMatch(/^p1\//);
    expect(moved[1]).toBe(moved[0]?.replace('p1', 'p2'));
    expect(stayed[0]).toMatch(/^p2\//);
    const [key] = [...homes].find(([, pairs]) => pairs[0]?.startsWith('p1')) ?? [];
    expect(homes.get(key ?? '')?.indexOf(moved[1] ?? '')).toBe(20);
  });

  describe('a prefill that fails', () => {
    it('is tried at the other prefill worker', async () => {
      p1.answer = failing(503);
      const statuses = [await chat({}), await chat({})].map(({ status }) => status);
      expect(statuses).toEqual([200, 200]);
      expect([p1.got.length, p2.got.length, got(d1, d2).length]).toEqual([1, 2, 2]);
    });

    it('everywhere: its status and message are told, and no address', async () => {
      for (const engine of [p1, p2]) engine.answer = failing(500, 'out of memory');
      const before = await counted('smg_envoy_prefill_failures_total', { phase: 'before_decode', reason: 'status' });
      const answer = await chat({});

      expect(answer.status).toBe(500);
      expect(answer.headers['x-smg-error-code']).toBe('prefill_upstream_error');
      expect(answer.json.error).toMatchObject({ code: 'prefill_upstream_error', message: 'out of memory' });
      expect(answer.text + JSON.stringify(answer.headers)).not.toContain('127.0.0.1');
      expect(answer.headers).not.toHaveProperty('x-smg-routed-worker-id');
      expect([p1.got.length + p2.got.length, got(d1, d2).length]).toEqual([5, 0]);
      expect(await counted('smg_envoy_prefill_failures_total', { phase: 'before_decode', reason: 'status' })).toBe(
        before + 5,
      );
    });

    it('that nobody can be reached for is 502', async () => {
      await Promise.all([p1.dies(), p2.dies()]);
      const answer = await chat({});
      await Promise.all([p1.returns(), p2.returns()]);
      expect([answer.status, answer.headers['x-smg-error-code']]).toEqual([502, 'prefill_request_failed']);
      expect(answer.text).not.toContain('127.0.0.1');
    });

    it('for a fault of the client is tried once, and told as it is', async () => {
      for (const engine of [p1, p2]) engine.answer = failing(400, 'no such role');
      const answer = await chat({});
      expect([answer.status, answer.json.error.message]).toEqual([400, 'no such role']);
      expect(got(p1, p2)).toHaveLength(1);
    });
  });

  it('two workers that do not fit refuse the request', async () => {
    const answer = await chat({ model: 'odd' });
    expect([answer.status, answer.headers['x-smg-error-code']]).toEqual([503, 'no_compatible_pd_pair']);
    expect(answer.json.error.message).toContain('mismatch on ["transport"]');
  });

  it('envoy 10.5: a prefill may take longer than Envoy waits for other answers', async () => {
    for (const engine of [p1, p2]) engine.answer = after(SLOW_MS, engine.usual);
    const answer = await chat({});
    expect(answer.status).toBe(200);
    const [, [decode]] = both();
    expect(decode?.json.kv_transfer_params).toMatchObject({ remote_block_ids: [1, 2] });
  });

  it('both legs count while they work, and a client that leaves ends its prefill', async () => {
    for (const engine of [p1, p2]) engine.answer = hanging;
    const exchange = start(front.envoy.url, { path: CHAT, body: { model: 'nixl', rid: 'leaver' } });
    await until(() => p1.running + p2.running === 1, 'a prefill runs');
    const during = await loads();
    expect([during[0]! + during[1]!, during[2]! + during[3]!]).toEqual([1, 1]);

    exchange.abort();
    await until(() => p1.running + p2.running === 0, 'the prefill was ended');
    await until(async () => (await inFlight()) === 0, 'nothing is in flight');
    expect(got(d1, d2)).toEqual([]);
  });

  it('while the answer is streamed, the decode worker counts alone', async () => {
    for (const engine of [d1, d2]) engine.answer = beginning;
    const exchange = start(front.envoy.url, { path: CHAT, body: { model: 'nixl', stream: true } });
    expect(await exchange.headers).toBe(200);
    const during = await loads();
    expect([during[0]! + during[1]!, during[2]! + during[3]!]).toEqual([0, 1]);
    exchange.abort();
    await until(async () => (await inFlight()) === 0, 'nothing is in flight');
  });

  it('a decode that fails goes on to the other decode worker with the same prefill, and that one is named', async () => {
    d1.answer = failing(503);
    const answers = [await chat({}), await chat({})];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(stamp)).toEqual([d2.url, d2.url]);
    expect([got(p1, p2).length, d1.got.length, d2.got.length]).toEqual([2, 1, 2]);
    const [failed] = d1.got;
    expect(d2.got.filter(({ text }) => text === failed?.text)).toHaveLength(1);
  });

  it('a body over the limit is computed by the decode worker alone', async () => {
    const before = await counted('smg_pd_kv_transfer_failures_total');
    const text = 'x'.repeat(BODY_LIMIT);
    const answer = await chat({ messages: [{ role: 'user', content: text }] });
    const [prefills, [decode]] = both();
    expect([answer.status, prefills.length]).toEqual([200, 0]);
    expect(decode?.json).toEqual({ model: 'nixl', messages: [{ role: 'user', content: text }] });
    expect((await counted('smg_pd_kv_transfer_failures_total')) - before).toBe(1);
  });

  it.each([
    [30_000, 'under it reach'],
    [60_000, 'over it do not reach'],
  ])('transfer parameters of %i blocks, which bring the body %s the decode worker', async (blocks) => {
    const kv = { remote_block_ids: [...Array(blocks).keys()] };
    for (const engine of [p1, p2]) {
      engine.answer = (response) => response.end(JSON.stringify({ kv_transfer_params: kv }));
    }
    const answer = await chat({});
    const [, [decode]] = both();
    const told = blocks < 50_000 ? { kv_transfer_params: kv } : {};
    expect([answer.status, decode?.json]).toEqual([200, { model: 'nixl', messages: [], ...told }]);
  });

  describe('asked in other ways', () => {
    let envoy: EnvoyHandle | undefined;
    const other = async (...flags: string[]): Promise<string> => {
      const listen = `127.0.0.1:${await freePort()}`;
      const own = ['--grpc-port', String(front.service.grpcPort), '--listen', listen];
      const adminListen = `127.0.0.1:${await freePort()}`;
      const yaml = await envoyConfig([...settings, ...own, '--admin-listen', adminListen, ...flags]);
      envoy = await startEnvoy(yaml, { concurrency: 1 });
      return envoy.url;
    };

    it('full duplex: the same, and with no limit of Envoy for the body', async () => {
      const url = await other('--mode', 'ext-proc-full-duplex');
      const content = 'x'.repeat(2 * BODY_LIMIT);
      const body = { model: 'nixl', messages: [{ role: 'user', content }], stream: true };
      for (const engine of [p1, p2]) engine.answer = after(SLOW_MS, engine.usual);
      const answer = await ask(url, { path: CHAT, body });
      await envoy?.stop();
      const [[prefill], [decode]] = both();
      expect(answer.status).toBe(200);
      expect(prefill?.json).toMatchObject({ messages: body.messages, max_tokens: 1 });
      expect(decode?.json).toMatchObject({ ...body, kv_transfer_params: { remote_block_ids: [1, 2] } });
    });
  });

  it('with the service away a decode worker gets the body as it is, and never a prefill worker', async () => {
    await front.service.kill();
    for (let i = 0; i < 12; i++) {
      const path = i % 3 === 0 ? '/v1/messages/count_tokens' : CHAT;
      expect((await chat({}, { path })).status).toBe(200);
    }
    const got = (leg: string) => engines.filter(({ name }) => name.startsWith(leg)).flatMap((engine) => engine.got);
    expect(got('d').map(({ text }) => text)).toEqual(Array(12).fill('{"model":"nixl","messages":[]}'));
    expect(got('p')).toEqual([]);
  });
});
