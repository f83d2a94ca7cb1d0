import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { startSim } from '../../src/sim/start-sim.ts';
import { chatBody, MODEL, pieces, sha256 } from '../support/bodies.ts';
import {
  type Answer,
  ask,
  type EnvoyHandle,
  envoyConfig,
  freePort,
  noEnvoy,
  type Outgoing,
  rawHttp,
  ServiceProcess,
  type Stack,
  start,
  startEnvoy,
  startStack,
  until,
} from '../support/services.ts';
import { bodyLimits } from './body-limits.suite.ts';

const CHAT = '/v1/chat/completions';
const MODE = ['--mode', 'ext-authz'];
const LIMIT = 1024 * 1024;
const RING = ['--policy', 'consistent_hashing', '--routing-key-override', '--envoy-body-limit', `${LIMIT}`];
const NAMED = { model: MODEL };

const sim = (knobs: object) => ({ 'x-sim': JSON.stringify(knobs) });

describe.skipIf(noEnvoy())('ext_authz on a real Envoy', () => {
  let stack: Stack;
  beforeAll(async () => {
    const flags = [...RING, '--decision-header', '--log-level', 'warn'];
    stack = await startStack({ sim: { digest: true }, flags, envoyFlags: MODE, concurrency: 2 });
  });
  afterAll(() => stack?.close());

  const send = (out: Outgoing): Promise<Answer> => ask(stack.url, { path: CHAT, method: 'POST', body: NAMED, ...out });
  const sum = async (name: string, labels: Record<string, string> = {}) =>
    (await stack.service.metrics()).sum(name, labels);

  /** The worker that answered; its stamp and its own word must agree. */
  function workerOf(answer: Answer): string {
    expect(answer.status).toBe(200);
    const worker = stack.sim.workers.find(({ name }) => name === answer.headers['x-sim-worker']);
    expect(answer.headers['x-smg-routed-worker-id']).toBe(worker?.url);
    return worker?.name ?? '';
  }

  it('a key stays on its worker, whether it comes as a header or in the body', async () => {
    const byHeader = (key: string, turn: number) =>
      send({ headers: { 'x-smg-routing-key': key, 'x-turn': `${turn}` } }).then(workerOf);
    const byRid = (key: string, turn: number) =>
      send({ body: { ...NAMED, rid: `${key}_t${turn}` }, headers: { 'x-smg-routing-key': `turn-${turn}` } }).then(
        workerOf,
      );
    for (const one of [byHeader, byRid]) {
      const homes = new Set<string>();
      for (let key = 0; key < 12; key++) {
        const home = await one(`conv-${key}`, 1);
        expect([await one(`conv-${key}`, 2), await one(`conv-${key}`, 3)]).toEqual([home, home]);
        homes.add(home);
      }
      expect(homes.size).toBe(3);
    }
    // One key is one conversation, wherever it stands.
    expect(await byRid('conv-0', 9)).toBe(await byHeader('conv-0', 9));
    expect(await sum('smg_envoy_fail_open_total')).toBe(0);
    expect(await sum('smg_envoy_messages_total', { kind: 'check_request' })).toBe(
      await sum('smg_envoy_answers_total', { kind: 'ok_response' }),
    );
    expect(await sum('smg_envoy_streams_total', { service: 'ext_proc' })).toBe(0);
  });

  it('sticky-sessions 1.4: a target is reached, and its answer is never replaced by that of another', async () => {
    for (const [index, worker] of stack.sim.workers.entries()) {
      const forged = { 'x-smg-strict': '1', 'x-gateway-destination-endpoint': '127.0.0.1:1' };
      const answer = await send({ headers: { 'x-smg-target-worker': `${index}`, ...forged } });
      expect(workerOf(answer)).toBe(worker.name);
      expect(answer.headers['x-smg-decision']).toContain('branch=target_worker_hit');
      const names = worker.seen.last?.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
      for (const name of [
        'x-smg-target-worker',
        'x-smg-strict',
        'x-envoy-max-retries',
        'x-gateway-destination-endpoint',
      ]) {
        expect(names).not.toContain(name);
      }
      expect(names).toContain('x-request-id');
    }

    const failing = await send({ headers: { 'x-smg-target-worker': '1', ...sim({ fail_rate: 1 }) } });
    expect([failing.status, failing.headers['x-sim-worker']]).toEqual([503, stack.sim.workers[1]?.name]);
    expect(failing.headers['x-envoy-attempt-count']).toBe('1');
  });

  it.each([
    ['a target that is nobody', { headers: { 'x-smg-target-worker': '9' } }, 503, 'no_available_workers'],
    ['a rid that is no text', { body: { ...NAMED, rid: 5 } }, 400, 'json_parse_error'],
  ])('interface 10: %s is refused in the envelope, and nobody is asked', async (_, out, status, code) => {
    const before = stack.sim.workers.map(({ seen }) => seen.requests);
    const answer = await send({ headers: { 'x-request-id': 'mine' }, ...out });

    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-smg-error-code': code });
    expect(answer.headers['x-request-id']).toBeDefined();
    expect(answer.json.error).toMatchObject({ code, param: null });
    expect(answer.headers['x-smg-routed-worker-id']).toBeUndefined();
    expect(stack.sim.workers.map(({ seen }) => seen.requests)).toEqual(before);
    expect(await sum('smg_envoy_immediate_answers_total', { code })).toBeGreaterThan(0);
  });

  it("a worker's own stamp and error code do not get through", async () => {
    const headers = ['x-smg-routed-worker-id: evil', 'x-smg-error-code: evil', 'x-smg-decision: evil'];
    const answer = await send({ headers: sim({ headers }) });
    workerOf(answer);
    expect(answer.headers['x-smg-error-code']).toBeUndefined();
    expect(answer.headers['x-smg-decision']).toContain('policy=consistent_hashing');
  });

  it('after a retry the stamp names the worker that answered', async () => {
    const key = { 'x-smg-routing-key': 'moves' };
    const home = workerOf(await send({ headers: key }));
    const worker = stack.sim.workers.find(({ name }) => name === home);
    worker?.set({ failRate: 1 });
    try {
      expect(workerOf(await send({ headers: key }))).not.toBe(home);
    } finally {
      worker?.set({ failRate: 0 });
    }
  });

  it.each([0, 1, 20_000, 2_000_000])('a body %i bytes over the limit goes to its worker whole', async (more) => {
    const body = chatBody(`large-${more}_t1`, LIMIT + more, 'start');
    const partial = await sum('smg_envoy_partial_bodies_total');
    for (const out of [{ body }, { body: pieces(body), headers: { 'content-type': 'application/json' } }]) {
      const answer = await send(out);
      expect([answer.status, answer.headers['x-sim-body-sha256']]).toEqual([200, sha256(body)]);
      const small = { body: { ...NAMED, rid: `large-${more}_t2` } };
      expect(workerOf(answer)).toBe(workerOf(await send(small)));
    }
    expect((await sum('smg_envoy_partial_bodies_total')) - partial).toBe(more === 0 ? 0 : 2);
  });

  it('a body that trailers follow reaches its worker once', async () => {
    const body = JSON.stringify({ ...NAMED, rid: 'trailing' });
    const head = `POST ${CHAT} HTTP/1.1\r\nhost: fleet\r\nconnection: close\r\ntransfer-encoding: chunked\r\n`;
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\nx-sum: 7\r\n\r\n`;
    const answer = await rawHttp(stack.envoy.port, `${head}content-type: application/json\r\n\r\n${chunks}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain(`x-sim-body-sha256: ${sha256(body)}`);
    expect(answer).toContain(`x-sim-worker: ${workerOf(await send({ body: { ...NAMED, rid: 'trailing' } }))}`);
  });

  it('nobody waits for a body that may never end', async () => {
    const handshake = [
      'GET /ws HTTP/1.1',
      'host: fleet',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version: 13',
      '\r\n',
    ];
    const grpc =
      'POST /v1/nothing HTTP/1.1\r\nhost: fleet\r\ncontent-type: application/grpc\r\ncontent-length: 9\r\n\r\n';
    const answers = await Promise.all([
      rawHttp(stack.envoy.port, handshake.join('\r\n'), 300),
      rawHttp(stack.envoy.port, grpc, 300),
    ]);
    expect(answers[0]).toMatch(/^HTTP\/1\.1 101 /);
    // Whatever it says: the 9 bytes never came.
    expect(answers[1]).toMatch(/^HTTP\/1\.1 [245]\d\d /);
  });

  it('decisions 7: what is in flight ends with the access log, also when the client leaves', async () => {
    const held = { ...sim({ first_token_ms: 60_000 }), 'x-smg-routing-key': 'held' };
    const left = start(stack.url, { path: CHAT, body: NAMED, headers: held });
    await until(async () => (await sum('smg_envoy_picks_in_flight')) === 1, 'it is in flight');
    left.abort();
    await until(async () => (await sum('smg_envoy_picks_in_flight')) === 0, 'it is no more');
    expect(await sum('smg_envoy_releases_total', { reason: 'age' })).toBe(0);
    expect(await sum('smg_envoy_access_log_entries_total', { kind: 'unknown_pick' })).toBe(0);
  });

  /** Another Envoy before the same service. */
  async function another(
    flags: readonly string[],
    change: (yaml: string) => string = (yaml) => yaml,
  ): Promise<EnvoyHandle> {
    const own = ['--grpc-port', `${stack.service.grpcPort}`, '--listen', `127.0.0.1:${await freePort()}`];
    const envoy = await startEnvoy(change(await envoyConfig([...RING, ...MODE, ...own, ...flags])));
    onTestFinished(() => envoy.stop());
    return envoy;
  }

  it('envoy 6.6: a target that Envoy does not know is served by nobody', async () => {
    const envoy = await another(['--static-workers', '--worker-urls', ...stack.sim.urls.slice(0, 2)]);
    const asked = async (index: number) => {
      const answer = await ask(envoy.url, { path: CHAT, body: NAMED, headers: { 'x-smg-target-worker': `${index}` } });
      return answer.headers['x-sim-worker'] ?? `${answer.status} ${answer.headers['x-smg-error-code']}`;
    };
    await until(async () => (await asked(0)) === stack.sim.workers[0]?.name, 'Envoy has its service');
    expect([await asked(0), await asked(1), await asked(2)]).toEqual([
      ...stack.sim.workers.slice(0, 2).map(({ name }) => name),
      '503 no_available_workers',
    ]);
  });

  it('decisions 21 and 22: an Envoy that is not ours gets header and stamp, and may send text', async () => {
    const envoy = await another(['--static-workers', '--worker-urls', ...stack.sim.urls], foreign);
    const asked = (out: Outgoing) => ask(envoy.url, { path: CHAT, body: NAMED, ...out });
    await until(async () => (await asked({})).headers['x-smg-routed-worker-id'] !== undefined, 'Envoy has its service');

    const forged = sim({ headers: ['x-smg-routed-worker-id: evil'] });
    for (const [index, worker] of stack.sim.workers.entries()) {
      const answer = await asked({ headers: { ...forged, 'x-smg-target-worker': `${index}` } });
      expect(workerOf(answer)).toBe(worker.name);
      expect(worker.seen.last?.rawHeaders).toContain(worker.address);
    }
    for (let turn = 1; turn <= 6; turn++) {
      const out = { body: { ...NAMED, rid: `foreign_t${turn}` } };
      expect(workerOf(await asked(out))).toBe(workerOf(await send(out)));
    }
  });
});

/** Our configuration as somebody else would have written it: without our mark, and with what Envoy does by default. */
function foreign(yaml: string): string {
  const config = parse(yaml);
  const manager = config.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
  const authz = manager.http_filters[0].typed_config;
  delete authz.grpc_service.initial_metadata;
  delete authz.encode_raw_headers;
  delete authz.with_request_body.pack_as_bytes;
  delete manager.access_log;
  manager.http_filters.splice(1, 1);
  manager.route_config.virtual_hosts[0].request_headers_to_remove = [];
  const [workers] = config.static_resources.clusters;
  const options = workers.typed_extension_protocol_options['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'];
  options.http_filters.shift();
  const policy = workers.load_balancing_policy.policies[0].typed_extension_config.typed_config;
  policy.override_host_sources = [{ header: 'x-gateway-destination-endpoint' }];
  return stringify(config, { aliasDuplicateObjects: false });
}

describe.skipIf(noEnvoy())('ext_authz and body limits', () => {
  bodyLimits(['--policy', 'round_robin', '--routing-key-override'], MODE);
});

describe.skipIf(noEnvoy())('ext_authz by headers alone', () => {
  let workers: Awaited<ReturnType<typeof startSim>>;
  let service: ServiceProcess;
  /** Knows two of the three workers. */
  let envoy: EnvoyHandle;
  let closed: EnvoyHandle;
  beforeAll(async () => {
    workers = await startSim({ port: await freePort('127.0.0.1', 3), count: 3 });
    const policy = ['--policy', 'prefix_hash', '--prefix-token-count', '4'];
    service = await ServiceProcess.start([...policy, '--worker-urls', ...workers.urls]);
    const config = async (more: readonly string[]) =>
      startEnvoy(
        await envoyConfig([
          ...[...policy, ...MODE, '--authz-body', 'off', '--grpc-port', `${service.grpcPort}`],
          ...['--listen', `127.0.0.1:${await freePort()}`, ...more],
        ]),
      );
    envoy = await config([]);
    closed = await config(['--fail', 'closed']);
  });
  afterAll(async () => {
    await Promise.all([envoy?.stop(), closed?.stop()]);
    await service?.stop(1_000);
    await workers?.close();
  });

  it('x-smg-routing-tokens place a request without its body', async () => {
    const served = async (tokens: string): Promise<string> => {
      const headers = { 'x-smg-routing-tokens': tokens };
      const answer = await ask(envoy.url, { path: CHAT, headers, body: NAMED });
      expect(answer.status).toBe(200);
      return answer.headers['x-sim-worker'] ?? '';
    };
    await until(
      async () => (await ask(envoy.url, { path: CHAT, body: NAMED })).status === 200,
      'Envoy has its workers',
    );
    const homes = new Set<string>();
    for (let prefix = 0; prefix < 20; prefix++) {
      const home = await served(`${prefix},2,3,4,5`);
      expect(await served(`${prefix},2,3,4,6,7`)).toBe(home);
      homes.add(home);
    }
    expect(homes.size).toBe(3);
    const metrics = await service.metrics();
    // The request without tokens wants its body for them, and has to do without.
    expect(
      metrics.sum('smg_router_request_body_path_total', { reason: 'mode_cannot_grant' }),
      'bodies wanted that were not sent',
    ).toBeGreaterThan(0);
    expect(metrics.sum('smg_envoy_fail_open_total')).toBe(0);
  });

  it('while the service is away: placed by Envoy, or 503 in the envelope', async () => {
    await until(async () => (await ask(closed.url, { path: CHAT, body: NAMED })).status === 200, 'it has its workers');
    await service.kill();

    const open = await ask(envoy.url, { path: CHAT, body: NAMED, headers: { 'x-smg-target-worker': '1' } });
    expect(open.status).toBe(200);
    expect(workers.workers.flatMap(({ seen }) => seen.last?.rawHeaders ?? [])).not.toContain('x-smg-target-worker');

    const refused = await ask(closed.url, { path: CHAT, body: NAMED });
    expect(refused.status).toBe(503);
    expect(refused.headers['x-smg-error-code']).toBe('picker_failed');
    expect(refused.json.error).toMatchObject({ code: 'picker_failed', type: 'Service Unavailable' });
  });
});
