import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type Sim, startSim } from '../../src/sim/start-sim.ts';
import { chatBody, pieces, sha256 } from '../support/bodies.ts';
import { type Played, play } from '../support/conversations.ts';
import {
  envoyGatewayBootstrap,
  type GatewayEnvoy,
  inferencePoolBootstrap,
  istioBootstrap,
} from '../support/gateway-envoys.ts';
import {
  type Answer,
  ask,
  type EnvoyHandle,
  envoyConfig,
  freePort,
  http2Client,
  noEnvoy,
  ServiceProcess,
  startEnvoy,
  until,
} from '../support/services.ts';

const HEADER = 'x-gateway-destination-endpoint';
const SETTINGS = ['--policy', 'round_robin', '--routing-key-override', '--log-level', 'warn'];

let sim: Sim;
let service: ServiceProcess;
beforeAll(async () => {
  if (noEnvoy()) return;
  sim = await startSim({ port: await freePort('127.0.0.1', 3), count: 3, firstTokenMs: 2, digest: true });
  service = await ServiceProcess.start([...SETTINGS, '--worker-urls', ...sim.urls, '--destination-header', HEADER]);
  await until(async () => (await service.admin('/readiness')).status === 200, 'the service is ready');
  await until(async () => {
    const { workers } = (await service.admin('/workers')).json as { workers: { status: string }[] };
    return workers.filter(({ status }) => status === 'ready').length === 3;
  }, 'every worker is ready');
});
afterAll(async () => {
  await service?.stop(1_000);
  await sim?.close();
});

/** Starts an Envoy as a gateway would configure it. */
async function start(made: (envoy: GatewayEnvoy) => string): Promise<EnvoyHandle> {
  const workerPorts = sim.urls.map((url) => Number(new URL(url).port));
  const envoy = {
    listenPort: await freePort(),
    adminPort: await freePort(),
    pickerPort: service.grpcPort,
    workerPorts,
  };
  return startEnvoy(made(envoy));
}

/** Plays conversations, and holds what is true behind every gateway: all answered, none split, every stamp right. */
async function playAt(envoy: EnvoyHandle, key: 'rid' | 'header', prefix: string): Promise<Played> {
  const played = await play({ url: envoy.url, conversations: 9, turns: 4, key, prefix });
  expect(played.errors).toEqual([]);
  expect(played.splits).toEqual([]);
  expect(played.wrongStamps(sim.workers)).toEqual([]);
  expect(Object.keys(played.spread)).toHaveLength(3);
  return played;
}

function chat(envoy: EnvoyHandle, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return ask(envoy.url, { path, headers, body: { model: 'sim-model', messages: [{ role: 'user', content: 'hi' }] } });
}

/** Nothing is counted as running at any worker. */
async function untilNothingRuns(): Promise<void> {
  await until(async () => {
    const { workers } = (await service.admin('/workers')).json as { workers: { load: number }[] };
    return workers.every(({ load }) => load === 0);
  }, 'no request is in flight');
}

/** The worker of a key answers 503 for a while: the request goes to the next of the list, and its pin with it. */
async function expectFailover(envoy: EnvoyHandle, key: string): Promise<void> {
  const headers = { 'x-smg-routing-key': key };
  const first = (await chat(envoy, '/v1/chat/completions', headers)).headers['x-sim-worker'];
  const home = sim.workers.find(({ name }) => name === first)!;
  await ask(home.url, { path: '/_sim', method: 'POST', body: { fail_rate: 1 } });

  const moved = await chat(envoy, '/v1/chat/completions', headers);
  await ask(home.url, { path: '/_sim', method: 'POST', body: { fail_rate: 0 } });
  await untilNothingRuns();
  const after = await chat(envoy, '/v1/chat/completions', headers);

  expect(moved.status).toBe(200);
  expect(moved.headers['x-sim-worker']).not.toBe(first);
  expect(after.headers['x-sim-worker']).toBe(moved.headers['x-sim-worker']);
}

/** Stickiness survives a client that names a worker itself. */
async function expectNoForgery(envoy: EnvoyHandle): Promise<void> {
  const key = { 'x-smg-routing-key': 'forged' };
  const home = (await chat(envoy, '/v1/chat/completions', key)).headers['x-sim-worker'];
  for (const { url } of sim.workers) {
    const forged = await chat(envoy, '/v1/chat/completions', { ...key, [HEADER]: new URL(url).host });
    expect(forged.headers['x-sim-worker']).toBe(home);
  }
}

describe.skipIf(noEnvoy())('envoy 16.1: an Istio gateway with the generated EnvoyFilter', () => {
  let envoy: EnvoyHandle;
  beforeAll(async () => {
    const yaml = await envoyConfig([...SETTINGS, '--mode', 'istio', '--worker-service', 'vllm.models:8000']);
    const manifests = parseAllDocuments(yaml).map((document) => document.toJS() as Record<string, unknown>);
    const filter = manifests.find((one) => one['kind'] === 'EnvoyFilter')!;
    envoy = await start((at) => istioBootstrap(at, filter));
  });
  afterAll(() => envoy?.stop());

  it.each(['rid', 'header'] as const)('keeps conversations on their workers by %s', async (key) => {
    await playAt(envoy, key, `istio-${key}`);
    await untilNothingRuns();
  });

  it('moves along the list of the service when a worker fails', () => expectFailover(envoy, 'istio-failover'));

  it('a body that trailers follow reaches its worker once', async () => {
    const body = chatBody('istio-trailers', 200_000);
    const headers = { 'content-type': 'application/json', te: 'trailers', trailer: 'x-sum' };
    const out = { path: '/v1/chat/completions', method: 'POST', headers, body: pieces(body, 20_000) };
    const client = http2Client(envoy.url);
    const got = new Set<string | undefined>();
    // With retries it comes twice more often than not.
    for (let turn = 0; turn < 8; turn++) {
      const answer = await client.ask({ ...out, trailers: { 'x-sum': '7' } });
      got.add(answer.headers['x-sim-body-sha256']);
    }
    client.close();

    expect([...got]).toEqual([sha256(body)]);
  });

  it('lets no client name a worker', () => expectNoForgery(envoy));

  it('asks the service on the named route only', async () => {
    const streams = async () =>
      (await ask(envoy.adminUrl, { path: '/stats?filter=ext_proc.picker.streams_started' })).text.match(/\d+$/m)?.[0];
    const before = await streams();

    const other = await chat(envoy, '/other/v1', { 'x-smg-routing-key': 'k' });
    expect(other.headers['x-smg-routed-worker-id']).toBeUndefined();
    expect(await streams()).toBe(before);
    await chat(envoy, '/v1/chat/completions', { 'x-smg-routing-key': 'k' });
    expect(await streams()).not.toBe(before);
  });

  it("leaves Envoy's own errors on other routes as they are", async () => {
    const dead = await chat(envoy, '/dead/v1');

    expect(dead.status).toBe(503);
    expect(dead.text).toBe('no healthy upstream');
    expect(dead.headers['x-smg-error-code']).toBeUndefined();
  });

  it('gives those on the route the envelope, and never a stamp', async () => {
    for (const worker of sim.workers) await ask(worker.url, { path: '/_sim', method: 'POST', body: { reset_rate: 1 } });

    const cut = await chat(envoy, '/v1/chat/completions');
    for (const worker of sim.workers) await ask(worker.url, { path: '/_sim', method: 'POST', body: { reset_rate: 0 } });

    expect(cut.status).toBe(503);
    expect(cut.headers['x-smg-error-code']).toBe('call_upstream_request_error');
    expect(cut.headers['x-smg-routed-worker-id']).toBeUndefined();
  });

  it('is served without the service', async () => {
    await service.kill();
    const answer = await chat(envoy, '/v1/chat/completions', { 'x-smg-routing-key': 'alone' });
    await service.start();

    expect(answer.status).toBe(200);
    expect(answer.headers['x-smg-routed-worker-id']).toBe(
      sim.workers.find(({ name }) => name === answer.headers['x-sim-worker'])?.url,
    );
  });
});

describe.skipIf(noEnvoy())('envoy 16.2: an Envoy Gateway with the generated policies', () => {
  let envoy: EnvoyHandle;
  beforeAll(async () => {
    envoy = await start((at) => envoyGatewayBootstrap(at, HEADER));
  });
  afterAll(() => envoy?.stop());

  it.each(['rid', 'header'] as const)('keeps conversations on their workers by %s', async (key) => {
    await playAt(envoy, key, `eg-${key}`);
    await untilNothingRuns();
  });

  it('moves along the list of the service when a worker fails', () => expectFailover(envoy, 'eg-failover'));

  it('lets no client name a worker', () => expectNoForgery(envoy));
});

describe.skipIf(noEnvoy())('endpoint-picker-protocol 1: the gateway of an InferencePool', () => {
  let envoy: EnvoyHandle;
  beforeAll(async () => {
    envoy = await start(inferencePoolBootstrap);
  });
  afterAll(() => envoy?.stop());

  it.each(['rid', 'header'] as const)('keeps conversations on their workers by %s', async (key) => {
    await playAt(envoy, key, `pool-${key}`);
    await untilNothingRuns();
  });
});
