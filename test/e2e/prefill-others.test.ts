import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, ask, noEnvoy, type Outgoing, start, until } from '../support/services.ts';
import { beginning, failing, hanging, SplitEngine } from '../support/split-engines.ts';
import { FAST_HEALTH, type Front, startFront } from '../support/stack.ts';

const CHAT = '/v1/chat/completions';
const FLAGS: readonly string[] = [
  ...['--pd-disaggregation', '--policy', 'round_robin', '--routing-key-override', '--log-level', 'warn'],
  ...['--retry-initial-backoff-ms', '1', '--retry-max-backoff-ms', '5', '--cb-failure-threshold', '1000'],
];

describe.skipIf(noEnvoy())('decisions 27 prefills that others send, through a real Envoy', () => {
  const closers: (() => Promise<void>)[] = [];
  let front: Front;
  let prefills: SplitEngine[];
  let decodes: SplitEngine[];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function serve(kind: 'vllm' | 'sglang', flags: readonly string[], envoyFlags: readonly string[] = []) {
    const engine = async (name: string): Promise<SplitEngine> => {
      const started = await SplitEngine.start({ name, kind, model: 'm' });
      closers.push(() => started.dies());
      return started;
    };
    prefills = [await engine('p1'), await engine('p2')];
    decodes = [await engine('d1'), await engine('d2')];
    const workers = [
      ...prefills.flatMap(({ url }, at) => ['--prefill', url, String(9001 + at)]),
      ...decodes.flatMap(({ url }) => ['--decode', url]),
    ];
    front = await startFront({ settings: [...FLAGS, ...workers, ...flags], envoyFlags, known: 4 });
    closers.push(() => front.close());
  }

  const chat = (body: object = {}, out: Outgoing = {}): Promise<Answer> =>
    ask(front.envoy.url, { path: CHAT, body: { model: 'm', messages: [], ...body }, ...out });
  const got = (engines: readonly SplitEngine[]) => engines.flatMap((engine) => engine.got);
  const inFlight = async () => (await front.service.metrics()).sum('smg_worker_requests_active');

  it.each([
    ['ext_proc', []],
    ['ext_authz', ['--mode', 'ext-authz']],
  ])('header, by %s: a sidecar is told whom to ask, and no client can tell it', async (_, envoyFlags) => {
    await serve('vllm', ['--pd-dispatch', 'header'], envoyFlags);
    const forged = { headers: { 'x-prefiller-host-port': '10.9.9.9:1' } };
    const named: (string | undefined)[] = [];
    for (let i = 0; i < 4; i++) {
      expect((await chat({ rid: `k${i % 2}` }, forged)).status).toBe(200);
      named.push(got(decodes).at(-1)?.headers['x-prefiller-host-port'] as string);
      for (const decode of decodes) decode.got.length = 0;
    }
    const [one, two] = prefills.map(({ address }) => address);
    expect(named).toEqual([one, two, one, two]);
    expect(got(prefills)).toEqual([]);
    await until(async () => (await inFlight()) === 0, 'nothing is in flight');

    await ask(front.envoy.url, { path: '/v1/models', ...forged });
    await front.service.kill();
    for (let i = 0; i < 2; i++) await chat({}, forged);
    expect(got(decodes)).toHaveLength(2);
    for (const { headers } of got(decodes)) expect(headers).not.toHaveProperty('x-prefiller-host-port');
  });

  it('mirror: Envoy sends both the same request, each to the worker that was chosen', async () => {
    await serve('sglang', ['--pd-dispatch', 'mirror', '--model-alias', 'short=m']);
    const content = 'x'.repeat(3_000_000);
    for (let i = 0; i < 4; i++) {
      const answer = await chat({ model: 'short', rid: `k${i % 2}`, messages: [{ role: 'user', content }] });
      const decode = decodes.find(({ name }) => name === answer.headers['x-engine']);
      expect([answer.status, answer.headers['x-smg-routed-worker-id']]).toEqual([200, decode?.url]);
      await until(() => got(prefills).length === i + 1, 'the prefill worker has it');
      const prefill = prefills[i % 2];
      expect(prefill?.last?.text).toBe(decode?.last?.text);
      expect(decode?.last?.json).toMatchObject({
        model: 'm',
        bootstrap_host: '127.0.0.1',
        bootstrap_port: 9001 + (i % 2),
      });
      // The host is not renamed: engines behind names go by it.
      expect(prefill?.last?.headers.host).toBe(decode?.last?.headers.host);
    }
    await until(async () => (await inFlight()) === 0, 'nothing is in flight');

    // What has no prefill is mirrored to nobody.
    await ask(front.envoy.url, { path: '/v1/messages/count_tokens', body: { model: 'm' } });
    await ask(front.envoy.url, {
      path: '/v1/files',
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expect(got(prefills).length).toBe(5);

    // Nobody hears of a prefill that fails, or that its client has left.
    const [p1, p2] = prefills as [SplitEngine, SplitEngine];
    p1.answer = failing(500);
    p2.answer = hanging;
    expect((await chat({ rid: 'k0' })).status).toBe(200);
    for (const decode of decodes) decode.answer = beginning;
    const exchange = start(front.envoy.url, {
      path: CHAT,
      body: { model: 'm', rid: 'k1', messages: [], stream: true },
    });
    await exchange.headers;
    await until(() => p2.running === 1, 'the prefill runs');
    expect(await inFlight()).toBe(2);
    exchange.abort();
    await until(async () => (await inFlight()) === 0, 'nothing is in flight');
    expect(p2.running).toBe(1);

    // Its prefill worker is away: the request goes on without.
    await p1.dies();
    for (const decode of decodes) decode.answer = decode.usual;
    const before = got(prefills).length;
    expect((await chat({ rid: 'k0' })).status).toBe(200);
    await front.service.kill();
    expect((await chat({})).status).toBe(200);
    expect(got(prefills).length).toBe(before);
  });

  it('Envoy alone never chooses a prefill worker, not even with the service away and every decode worker out', async () => {
    await serve('vllm', ['--pd-dispatch', 'header', ...FAST_HEALTH]);
    const out = async (engine: SplitEngine) => {
      await engine.dies();
      await until(
        async () => (await front.endpoints()).get(engine.address) === 'unhealthy',
        'Envoy knows that it is out',
      );
    };
    const [d1, d2] = decodes as [SplitEngine, SplitEngine];
    d1.answer = failing(503);
    await out(d2);
    // The list is used up: Envoy goes on by itself.
    const retried = await chat();
    expect([retried.status, d1.got.length]).toEqual([503, 5]);
    await out(d1);
    await front.service.kill();
    for (let i = 0; i < 8; i++) expect((await chat()).status).toBe(503);
    // It does try decode workers that were out when the service went.
    await d2.returns();
    await until(async () => (await chat()).status === 200, 'one that is back serves');
    expect(got(prefills)).toEqual([]);
  });
});
