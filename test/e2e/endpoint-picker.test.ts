import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatBody, sha256 } from '../support/bodies.ts';
import { protocolGateway } from '../support/protocol-gateway.ts';
import {
  type Answer,
  ask,
  type EnvoyHandle,
  freePort,
  noEnvoy,
  type Outgoing,
  startEnvoy,
  until,
} from '../support/services.ts';
import { envoyConfig, type Stack, startStack } from '../support/stack.ts';
import { expectWholeBodies } from './whole-bodies.ts';

const CHAT = '/v1/chat/completions';
const FLAGS = ['--policy', 'round_robin', '--routing-key-override', '--test-endpoint-selection'];
const MODE = ['--mode', 'ext-proc-full-duplex'];

/** The Endpoint Picker Protocol over a real Envoy: our own configuration of it, and one of a gateway that is not ours. */
describe.skipIf(noEnvoy())('endpoint-picker-protocol', () => {
  let stack: Stack;
  let gateway: EnvoyHandle;

  beforeAll(async () => {
    stack = await startStack({ sim: { digest: true }, flags: FLAGS, envoyFlags: MODE });
    const ports = ['--grpc-port', String(stack.service.grpcPort), '--listen', `127.0.0.1:${await freePort()}`];
    gateway = await startEnvoy(protocolGateway(await envoyConfig([...FLAGS, ...MODE, ...ports])));
    await until(async () => (await ask(gateway.url, { path: '/v1/models' })).status === 200, 'workers are known');
  });
  afterAll(async () => {
    await gateway?.stop();
    await stack?.close();
  });

  const send = (out: Outgoing): Promise<Answer> => ask(gateway.url, { path: CHAT, method: 'POST', ...out });
  const addresses = (): string[] => stack.sim.urls.map((url) => url.slice('http://'.length));
  const inFlight = async (): Promise<number> => (await stack.service.metrics()).sum('smg_envoy_picks_in_flight');
  const worker = (answer: Answer) => stack.sim.workers.find(({ name }) => name === answer.headers['x-sim-worker'])!;
  /** Headers of the request as its worker saw it. */
  const seenBy = (answer: Answer): ReadonlyMap<string, string> => {
    const raw = worker(answer).seen.last?.rawHeaders ?? [];
    return new Map(raw.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1] ?? '']] : [])));
  };

  it('P5 through our own configuration every body arrives whole, is stamped, and its end is told', async () => {
    await expectWholeBodies(stack.url, 200);
    const answer = await ask(stack.url, { path: CHAT, body: { model: 'sim-model', rid: 'own_t1' } });

    expect(answer.headers['x-smg-routed-worker-id']).toBe(worker(answer).url);
    expect(seenBy(answer).has('x-gateway-destination-endpoint')).toBe(false);
    await until(async () => (await inFlight()) === 0, 'all have ended');
  });

  it('P12 through our own configuration a request goes on along the list, with its body', async () => {
    const turn = (url: string) => ask(url, { path: CHAT, body: chatBody('along_t1', 300_000) });
    const home = worker(await turn(stack.url));
    home.set({ failRate: 1, failStatus: 503 });
    const answer = await turn(stack.url);
    home.set({ failRate: 0 });

    expect([answer.status, answer.headers['x-envoy-attempt-count']]).toEqual([200, '2']);
    expect(answer.headers['x-sim-body-sha256']).toBe(sha256(chatBody('along_t1', 300_000)));
    expect(answer.headers['x-smg-routed-worker-id']).not.toBe(home.url);
  });

  it('P1 header and metadata are there and equal, in the header answer and after the body', async () => {
    for (const out of [{ body: { model: 'sim-model', rid: 'p1_t1' } }, { path: '/v1/models', method: 'GET' }]) {
      const answer = await send(out);
      const list = answer.headers['x-metadata']?.split(',') ?? [];

      expect(answer.status).toBe(200);
      expect([...list].sort()).toEqual(addresses().sort());
      if (out.body !== undefined) {
        expect(seenBy(answer).get('x-gateway-destination-endpoint')).toBe(answer.headers['x-metadata']);
      }
    }
  });

  it('P2, P3 a subset is obeyed, with a body and without', async () => {
    const [first = '', , third = ''] = addresses();
    for (const subset of [first, `${third}, ${first}`, `10.9.9.9:1,${first}`]) {
      for (const out of [{ body: chatBody('subset_t1', 100_000) }, { path: '/v1/models', method: 'GET' }]) {
        const answer = await send({ ...out, headers: { 'x-subset': subset } });

        expect(answer.status).toBe(200);
        for (const one of answer.headers['x-metadata']?.split(',') ?? ['none']) expect(subset).toContain(one);
        expect(subset).toContain(worker(answer).url.slice('http://'.length));
      }
    }
  });

  it('P4 a subset that nobody serves is 503 in the envelope, before the request went on', async () => {
    for (const out of [{ body: chatBody('nobody_t1', 100_000) }, { path: '/v1/models', method: 'GET' }]) {
      const answer = await send({ ...out, headers: { 'x-subset': '10.9.9.9:1' } });

      expect(answer.status).toBe(503);
      expect(answer.headers).toMatchObject({ 'x-smg-error-code': 'no_available_workers' });
      expect(answer.json.error).toMatchObject({ type: 'Service Unavailable', code: 'no_available_workers' });
    }
  });

  it('P9, P11 the pin follows the worker that served, and nothing stays in flight', async () => {
    const turn = () => send({ body: { model: 'sim-model', rid: 'served_t1' } });
    const home = worker(await turn());
    home.set({ failRate: 1, failStatus: 503 });

    const second = await turn();
    home.set({ failRate: 0 });
    const third = await turn();

    expect(second.status).toBe(200);
    expect(second.headers['x-envoy-attempt-count']).toBe('2');
    expect(worker(second)).not.toBe(home);
    expect(worker(third)).toBe(worker(second));
    expect(third.headers['x-envoy-attempt-count']).toBe('1');
    // Stamped by the service, as this gateway cannot.
    expect(third.headers['x-smg-routed-worker-id']).toBe(worker(third).url);
    await until(async () => (await inFlight()) === 0, 'all have ended');
    expect((await stack.service.metrics()).sum('smg_envoy_releases_total', { reason: 'stream' })).toBeGreaterThan(0);
  });

  it('decisions 43 the switch of the conformance suite: endpoints by header, and who served', async () => {
    const [first = '', second = '', third = ''] = addresses();
    const answer = await send({
      body: { model: 'sim-model' },
      headers: { 'test-epp-endpoint-selection': `${third},${first}`, 'x-subset': second },
    });

    expect(answer.headers['x-metadata']).toBe(`${third},${first}`);
    expect(answer.headers['x-conformance-test-served-endpoint']).toBe(third);
    expect(seenBy(answer).has('test-epp-endpoint-selection')).toBe(false);
    expect(seenBy(answer).get('x-echo-set-header')).toBe(`x-conformance-test-served-endpoint:${third}`);
    expect((await send({ body: {}, headers: { 'test-epp-endpoint-selection': '10.9.9.9' } })).status).toBe(503);
  });

  it('without the service our configuration answers 503 in the envelope, and serves again when it is back', async () => {
    await stack.service.kill();
    const body = chatBody('away_t1', 1000);
    const lost = await ask(stack.url, { path: CHAT, body });
    await stack.service.start();

    expect([lost.status, lost.headers['x-smg-error-code']]).toEqual([503, 'picker_failed']);
    await until(async () => (await ask(stack.url, { path: CHAT, body })).status === 200, 'it is back');
    expect(stack.envoy.output + gateway.output).not.toMatch(/critical|assert|envoy bug/i);
  });
});
