import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../../src/sim/certificate.ts';
import { startGrpcSim } from '../../src/sim/grpc-worker.ts';
import { type Sim, startSim } from '../../src/sim/start-sim.ts';
import { type GrpcClient, grpcClient } from '../support/grpc-client.ts';
import { ask, http2Client, noEnvoy, until } from '../support/services.ts';
import { FAST_HEALTH, type Front, startFront } from '../support/stack.ts';
import { echoed, openWebSocket } from '../support/websocket.ts';

const CHAT = '/v1/chat/completions';
const SOCKET = '/v1/realtime?model=sim-model';

describe.skipIf(noEnvoy())('decisions 45 http, https and gRPC workers in one fleet', () => {
  const closers: (() => Promise<void> | void)[] = [];
  let http: Sim;
  let https: Sim;
  let grpc: Awaited<ReturnType<typeof startGrpcSim>>;
  let front: Front;
  let client: GrpcClient;
  /** By the URL that the service knows it by. */
  const names = new Map<string, string>();

  beforeAll(async () => {
    const certificate = selfSigned({ names: ['localhost', '127.0.0.1'], now: Date.now(), days: 1 });
    const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-schemes-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const ca = join(folder, 'ca.pem');
    writeFileSync(ca, certificate.cert);
    [http, https, grpc] = [
      await startSim({ count: 1 }),
      await startSim({ count: 2, first: 2, certificate }),
      await startGrpcSim({ count: 2, first: 4 }),
    ];
    closers.push(
      () => http.close(),
      () => https.close(),
      () => grpc.close(),
    );

    // One known by its name, one by its address.
    const urls = [...http.urls, https.urls[0]!.replace('127.0.0.1', 'localhost'), https.urls[1]!, ...grpc.urls];
    for (const [at, url] of urls.entries()) names.set(url, `sim-${at + 1}`);
    const settings = ['--policy', 'round_robin', '--routing-key-override', ...FAST_HEALTH, '--ca-cert-paths', ca];
    front = await startFront({ settings: [...settings, '--worker-urls', ...urls], known: 5 });
    closers.push(() => front.close());
    client = grpcClient(front.envoy.url);
    closers.push(() => client.close());
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  const inFlight = async (stamp: string) =>
    (await front.service.metrics()).sum('smg_worker_requests_active', { worker: stamp });
  const urlOf = (name: string) => [...names].find(([, other]) => other === name)?.[0] ?? '';
  const key = (value: string) => ({ 'x-smg-routing-key': value });

  it('http and https workers serve every request but gRPC, each under its URL', async () => {
    const served = new Map<string, string>();
    for (let i = 0; i < 6; i++) {
      const { status, headers } = await ask(front.envoy.url, { path: CHAT, body: { model: 'sim-model' } });
      expect(status).toBe(200);
      served.set(headers['x-smg-routed-worker-id'] ?? '', headers['x-sim-worker'] ?? '');
    }
    expect(served).toEqual(new Map([...names].filter(([url]) => url.startsWith('http'))));
  });

  it('a worker whose certificate is for another address takes no request, and says why', async () => {
    const other = https.urls[1]!.replace('127.0.0.1', '127.0.0.2');
    const impostor = await startSim({
      count: 1,
      host: '127.0.0.2',
      port: Number(new URL(other).port),
      certificate: https.workers[1]!.certificate!,
    });
    const added = await front.service.admin('/workers', { body: { url: other } });
    expect(added.status).toBe(202);
    const path = `/workers/${encodeURIComponent(other)}`;
    await until(async () => (await front.service.admin(path)).json.last_probe !== null, 'it was probed');
    const { status, last_probe } = (await front.service.admin(path)).json;
    expect([status, last_probe.detail]).toEqual([
      'pending',
      'its certificate is for another name: ERR_TLS_CERT_ALTNAME_INVALID',
    ]);
    await front.service.admin(path, { method: 'DELETE' });
    await impostor.close();
  });

  describe('acceptance 5: gRPC streams', () => {
    it('go to gRPC workers, stick by header key, and count until they end', async () => {
      const one = client.open(key('stream'));
      expect(await one.echo('hello')).toBe('hello');
      const stamp = await one.stamp;
      expect(names.get(stamp)).toBe(await one.worker);
      expect(stamp).toMatch(/^grpc:/);
      expect(await inFlight(stamp)).toBe(1);

      for (let turn = 0; turn < 2; turn++) {
        await client.once(key(`else-${turn}`));
        expect(await client.once(key('stream'))).toBe(await one.worker);
      }
      expect(await one.echo('still there')).toBe('still there');
      await until(async () => (await inFlight(stamp)) === 1, 'only the open one is left');

      one.end();
      expect(await one.ended).toBe(0);
      await until(async () => (await inFlight(stamp)) === 0, 'the count falls');
    });

    it('go to the next worker when theirs does not answer, and stay there', async () => {
      const first = await client.once(key('failover'));
      const dead = grpc.workers.find(({ name }) => name === first)!;
      const running = client.open(key('failover'));
      await running.echo('x');
      dead.kill();
      expect([13, 14]).toContain(await running.ended); // it had been answered, so it is not repeated
      const second = await client.once(key('failover'));
      expect(second).not.toBe(first);

      await dead.start();
      const ready = async () =>
        (await front.service.admin(`/workers/${encodeURIComponent(urlOf(first))}`)).json.status === 'ready';
      await until(ready, 'it is back', 10_000);
      expect(await client.once(key('failover'))).toBe(second);
      await until(async () => (await front.service.metrics()).sum('smg_envoy_picks_in_flight') === 0, 'all have ended');
    });
  });

  describe('acceptance 5: WebSockets', () => {
    it('go to the worker of their key, http or https, and count until they end', async () => {
      const workers = new Set<string>();
      for (let i = 0; i < 3; i++) {
        const first = await openWebSocket(front.envoy.url + SOCKET, key(`socket-${i}`));
        const stamp = String(first.headers['x-smg-routed-worker-id']);
        expect([first.status, names.get(stamp)]).toEqual([101, first.headers['x-sim-worker']]);
        expect(await echoed(first.socket!, 'hello')).toBe('hello');
        const second = await openWebSocket(front.envoy.url + SOCKET, key(`socket-${i}`));
        expect(second.headers['x-sim-worker']).toBe(first.headers['x-sim-worker']);
        expect(await inFlight(stamp)).toBe(2);
        first.socket!.destroy();
        second.socket!.destroy();
        await until(async () => (await inFlight(stamp)) === 0, 'the count falls');
        workers.add(stamp);
      }
      expect(workers.size).toBe(3);
    });

    it('go to the next worker when theirs is down', async () => {
      const first = await openWebSocket(front.envoy.url + SOCKET, key('moves'));
      first.socket!.destroy();
      const all = [...http.workers, ...https.workers];
      const dead = all.find(({ name }) => name === first.headers['x-sim-worker'])!;
      await dead.kill();
      const second = await openWebSocket(front.envoy.url + SOCKET, key('moves'));
      expect(second.status).toBe(101);
      expect(second.headers['x-sim-worker']).not.toBe(dead.name);
      expect(names.get(String(second.headers['x-smg-routed-worker-id']))).toBe(second.headers['x-sim-worker']);
      expect(await echoed(second.socket!, 'hello')).toBe('hello');
      second.socket!.destroy();
      await dead.start();
    });
  });
});

describe.skipIf(noEnvoy())('decisions 45 --upstream-http2', () => {
  it('speaks HTTP/2 without TLS to every worker, also in probes; gRPC requests go there too', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.httpVersion} ${request.url}`);
      response.setHeader('x-sim-worker', 'h2c');
      response.statusCode = request.url === '/v1/models' ? 404 : 200;
      request.resume().on('end', () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const front = await startFront({
      settings: ['--policy', 'round_robin', '--upstream-http2', '--worker-urls', url],
      known: 1,
    });
    try {
      const answer = await ask(front.envoy.url, { path: CHAT, body: { model: 'm' } });
      expect([answer.status, answer.headers['x-sim-worker'], answer.headers['x-smg-routed-worker-id']]).toEqual([
        200,
        'h2c',
        url,
      ]);
      const client = http2Client(front.envoy.url);
      const grpc = { 'content-type': 'application/grpc', te: 'trailers' };
      expect(
        (await client.ask({ path: '/a.B/C', method: 'POST', headers: grpc, body: [Buffer.alloc(5)] })).status,
      ).toBe(200);
      client.close();
      expect(new Set(seen)).toEqual(new Set(['2.0 /health', '2.0 /v1/models', `2.0 ${CHAT}`, '2.0 /a.B/C']));
    } finally {
      await front.close();
      server.close();
    }
  });
});
