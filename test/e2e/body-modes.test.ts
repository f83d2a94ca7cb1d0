import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startGrpcSim } from '../../src/sim/grpc-worker.ts';
import { chatBody, pieces, sha256 } from '../support/bodies.ts';
import { BY_CHANCE, MODE_NAMES, MODES, type ModeName, ROWS, type RowName } from '../support/body-modes.ts';
import { type EditableEnvoy, type EnvoyChange, processBy, withListeners } from '../support/edit-envoy.ts';
import { grpcClient } from '../support/grpc-client.ts';
import { EARLY_HINTS, FAIL_ONCE, reflectingWorker } from '../support/reflecting-worker.ts';
import { ServiceProcess } from '../support/service-process.ts';
import {
  type Answer,
  ask,
  freePort,
  http2Client,
  noEnvoy,
  type Outgoing,
  rawHttp,
  startEnvoy,
  until,
} from '../support/services.ts';
import { envoyConfig } from '../support/stack.ts';
import { echoed, openWebSocket } from '../support/websocket.ts';

const CHAT = '/v1/chat/completions';
/** Bytes that Envoy keeps of a body. */
const LIMIT = 100_000;
const FLAGS = [
  ...['--policy', 'round_robin', '--routing-key-override', '--model-alias', 'nick=chat', '--log-level', 'error'],
  ...['--envoy-body-limit', String(LIMIT), '--max-payload-size', '1000000', '--worker-schemes', 'grpc'],
];

/** Asks one mode about one row of the table. */
type Probe = (url: string, id: string) => Promise<string>;

function send(
  url: string,
  key: string,
  body: object | Buffer | readonly Buffer[],
  more: Outgoing['headers'] = {},
): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'x-smg-routing-key': key, ...(more as object) };
  return ask(url, { path: CHAT, method: 'POST', body, headers });
}

/** So many that six workers taken by chance are not the same one. */
const TURNS = 8;

/** One worker for all turns, where it is given that one. */
async function sameWorker(turn: (number: number) => Promise<Answer>, worker?: string): Promise<boolean> {
  let first = worker;
  for (let number = 1; number <= TURNS; number++) {
    const { status, headers } = await turn(number);
    if (status !== 200) throw new Error(`answered with ${status}`);
    first ??= headers['x-sim-worker'];
    if (headers['x-sim-worker'] !== first) return false;
  }
  return true;
}

const PROBES: Readonly<Record<RowName, Probe>> = {
  bodyless: async (url, id) => {
    const one = () => ask(url, { path: '/v1/models', headers: { 'x-smg-routing-key': id } });
    return (await sameWorker(one)) ? 'yes' : 'no';
  },

  header: async (url, id) => ((await sameWorker(() => send(url, id, { model: 'chat' }))) ? 'yes' : 'no'),

  rid: async (url, id) =>
    (await sameWorker((turn) => send(url, `decoy-${id}-${turn}`, { rid: `${id}_t${turn}`, model: 'chat' })))
      ? 'yes'
      : 'no',

  http2: async (url, id) => {
    const client = http2Client(url);
    const headers = { 'content-type': 'application/json' };
    const turn = (number: number) =>
      client.ask({ path: CHAT, method: 'POST', headers, body: pieces(modelled(`${id}_t${number}`, 50_000), 20_000) });
    const sticks = await sameWorker(turn);
    client.close();
    return sticks ? 'yes' : 'no';
  },

  trailers: async (url, id) => {
    const got = new Set<string>();
    const sticks = await sameWorker(async (turn) => {
      const answer = await sendTrailers(url, `decoy-${id}-${turn}`, `{"model":"chat","rid":"${id}_t${turn}"}`);
      got.add(answer.headers['x-got-trailers'] ?? '');
      return answer;
    });
    if (!got.has('{"x-sum":"7"}') || got.size !== 1) return `trailers ${[...got]}`;
    return sticks ? 'yes' : 'no';
  },

  model: async (url, id) => {
    for (let turn = 0; turn < 2 * TURNS; turn++) {
      const { headers } = await send(url, `decoy-${id}-${turn}`, { model: 'chat' });
      if (!headers['x-sim-worker']?.startsWith('chat')) return 'no';
    }
    return 'yes';
  },

  prompt: async (url, id) => {
    const messages = [{ role: 'user', content: `tell me of ${id} `.repeat(30) }];
    const turn = () => ask(url, { path: CHAT, body: { model: 'prompt', messages } });
    return (await sameWorker(turn)) ? 'yes' : 'no';
  },

  edit: async (url, id) => {
    const { headers } = await send(url, id, { model: 'nick' });
    return headers['x-model'] === 'chat' ? 'yes' : 'no';
  },

  large: async (url, id) => {
    const sticks = async (at: 'start' | 'end'): Promise<boolean | '413'> => {
      let refused = false;
      const same = await sameWorker(async (turn) => {
        // Envoy may take in twice its limit before it stops reading (envoy 4.3).
        const body = modelled(`${id}-${at}_t${turn}`, 5 * LIMIT, at);
        const answer = await send(url, `decoy-${id}-${at}-${turn}`, pieces(body, 20_000));
        if (answer.status === 413) refused = true;
        else if (answer.headers['x-sim-body-sha256'] !== sha256(body)) throw new Error('body changed');
        return { ...answer, status: 200 };
      });
      return refused ? '413' : same;
    };
    const end = await sticks('end');
    if (end === '413') return '413';
    if (end) return 'whole';
    return (await sticks('start')) ? 'beginning' : 'no';
  },

  retry: async (url, id) => {
    const body = modelled(`${id}_t1`, 50_000);
    // Only the service may take the route without retries.
    const { status, headers } = await send(url, id, body, { [FAIL_ONCE]: id, 'x-smg-send-once': '1' });
    if (status !== 200) return `${status}`;
    return headers['x-sim-body-sha256'] === sha256(body) ? 'yes' : 'another body';
  },

  kept: async (url, id) => {
    const first = await send(url, id, modelled(`${id}_t1`, 1_000), { [FAIL_ONCE]: id });
    if (first.status !== 200) return `${first.status}`;
    const turn = (number: number) => send(url, id, modelled(`${id}_t${number + 1}`, 1_000));
    return (await sameWorker(turn, first.headers['x-sim-worker'])) ? 'yes' : 'no';
  },

  continue: (url, id) => sendAfterContinue(url, id, modelled(`${id}_t1`, 50_000)),

  hints: (url, id) => hintsOf(url, id),

  websocket: async (url, id) => {
    const open = () => openWebSocket(`${url}/v1/realtime?model=chat`, { 'x-smg-routing-key': id });
    const workers = new Set<unknown>();
    for (let turn = 0; turn < 3; turn++) {
      const { socket, status, headers } = await open();
      if (socket === null) return status === 408 ? 'hangs' : `${status}`;
      if ((await echoed(socket, 'hello')) !== 'hello') return 'garbled';
      socket.destroy();
      workers.add(headers['x-sim-worker']);
    }
    return workers.size === 1 ? 'yes' : 'no';
  },

  connect: async (url) => {
    const connect = 'CONNECT a.example:443 HTTP/1.1\r\nhost: a.example:443\r\n\r\n';
    const status = (await rawHttp(Number(new URL(url).port), connect, 1_500)).split(' ')[1];
    return status === '408' ? 'hangs' : `${status}`;
  },

  extended: async (url) => {
    const { session, close } = http2Client(url);
    const offer = new Promise<boolean>((resolve) =>
      session.once('remoteSettings', ({ enableConnectProtocol }) => resolve(enableConnectProtocol === true)),
    );
    const offered = await offer;
    close();
    return offered ? 'offered' : 'not offered';
  },

  unary: (url, id) => grpcSticks(url, id, false),

  grpc: (url, id) => grpcSticks(url, id, true),
};

/** @param talks the client goes on with its stream only when it got an answer */
async function grpcSticks(url: string, id: string, talks: boolean): Promise<string> {
  const client = grpcClient(url);
  try {
    const workers = new Set<string>();
    for (let turn = 0; turn < 3; turn++) {
      const stream = client.open({ 'x-smg-routing-key': id });
      const first = stream.echo('hello');
      if (talks && (await first) === 'hello') await stream.echo('more');
      stream.end();
      if ((await first) !== 'hello' || (await stream.ended) !== 0) return 'broken';
      workers.add(await stream.worker);
    }
    return workers.size === 1 ? 'yes' : 'no';
  } catch {
    return 'hangs';
  } finally {
    client.close();
  }
}

/** A chat body for the first model of the fleet. */
function modelled(rid: string, size: number, at: 'start' | 'end' = 'end'): Buffer {
  return Buffer.from(chatBody(rid, size, at).toString().replace('sim-model', 'chat'));
}

const MAY_HANG: ReadonlySet<RowName> = new Set(['websocket', 'connect', 'unary', 'grpc']);

describe.skipIf(noEnvoy())('envoy 4 what each processing mode can decide', () => {
  const closers: (() => Promise<void> | void)[] = [];
  let service: ServiceProcess;
  const seen = new Map<string, Promise<string>>();

  beforeAll(async () => {
    const failed = new Set<string>();
    const workers = await Promise.all(
      ['chat-1', 'chat-2', 'chat-3', 'prompt-1', 'prompt-2', 'prompt-3'].map((name) => reflectingWorker(name, failed)),
    );
    for (const worker of workers) closers.push(() => worker.close());
    const grpc = await startGrpcSim({ count: 3 });
    closers.push(() => grpc.close());
    const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-modes-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'config.yaml');
    const labels = { policy: 'prefix_hash' };
    const declared = workers.map(({ name, url }) => ({
      url,
      models: [{ id: name.split('-')[0] }],
      ...(name.startsWith('prompt') ? { labels } : {}),
    }));
    writeFileSync(file, stringify({ workers: [...declared, ...grpc.urls.map((url) => ({ url }))] }));

    service = await ServiceProcess.start([...FLAGS, '--config', file]);
    closers.push(() => service.stop(1_000));
    const { yaml, urls } = await listeners(service.grpcPort);
    const envoy = await startEnvoy(yaml);
    closers.push(() => envoy.stop());
    await until(async () => (await ask(urls.none, { path: '/health' })).status === 200, 'workers are known');

    // One after the other, so that nobody else takes a turn; those that may wait for a timer do so side by side.
    for (const row of Object.keys(PROBES) as RowName[]) {
      for (const mode of MODE_NAMES) {
        const outcome = PROBES[row](urls[mode], `${row}-${mode}`).catch((error: Error) => error.message);
        seen.set(`${row} ${mode}`, outcome);
        if (!MAY_HANG.has(row)) await outcome;
      }
    }
    await Promise.all(seen.values());
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  describe.each(Object.entries(ROWS))('%s', (row, { cells }) => {
    it.each(MODE_NAMES.map((mode) => [mode, cells[mode]] as const))('%s: %s', async (mode, expected) => {
      const outcome = await seen.get(`${row} ${mode}`);
      if (expected === BY_CHANCE) expect(['yes', '503']).toContain(outcome);
      else expect(outcome).toBe(expected);
    });
  });

  it('every request has ended', async () => {
    await until(async () => (await service.metrics()).sum('smg_envoy_picks_in_flight') === 0, 'nothing is in flight');
  });
});

/** Our own configuration with a listener for each mode. */
async function listeners(grpcPort: number): Promise<{ yaml: string; urls: Readonly<Record<ModeName, string>> }> {
  const first = await freePort('127.0.0.1', MODE_NAMES.length);
  const changes: Partial<Record<ModeName, EnvoyChange>> = {};
  for (const name of MODE_NAMES) {
    const { processing, override } = MODES[name];
    const process = processBy(processing, override);
    changes[name] = (envoy) => {
      process(envoy);
      endSoon(envoy);
    };
  }
  const yaml = await envoyConfig([...FLAGS, '--grpc-port', String(grpcPort), '--listen', `127.0.0.1:${first}`]);
  return withListeners(yaml, first, changes as Record<ModeName, EnvoyChange>);
}

/** What hangs is over soon. */
function endSoon({ manager }: EditableEnvoy): void {
  manager['stream_idle_timeout'] = '1s';
  const { virtual_hosts } = manager['route_config'] as {
    virtual_hosts: { routes: { route: Record<string, unknown> }[] }[];
  };
  for (const { route } of virtual_hosts[0]?.routes ?? []) route['idle_timeout'] = '1s';
}

function answerOf(response: IncomingMessage): Answer {
  const headers = response.headers as Record<string, string>;
  return { status: response.statusCode ?? 0, headers, body: Buffer.alloc(0), text: '', json: null };
}

function sendTrailers(url: string, key: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'x-smg-routing-key': key,
      te: 'trailers',
      trailer: 'x-sum',
      'transfer-encoding': 'chunked',
    };
    const request = httpRequest(url + CHAT, { method: 'POST', headers, agent: false }, (response) => {
      response.resume();
      resolve(answerOf(response));
    });
    request.on('error', reject);
    request.write(body);
    request.addTrailers({ 'x-sum': '7' });
    request.end();
  });
}

/** Sends the body when it was told to. */
function sendAfterContinue(url: string, key: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      expect: '100-continue',
      'content-type': 'application/json',
      'content-length': body.length,
      'x-smg-routing-key': key,
    };
    const request = httpRequest(url + CHAT, { method: 'POST', headers, agent: false });
    let told = false;
    request.on('continue', () => {
      told = true;
      request.end(body);
    });
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      const whole = response.headers['x-sim-body-sha256'] === sha256(body);
      resolve(told && whole ? 'yes' : `${response.statusCode}, told ${told}, whole ${whole}`);
    });
    request.flushHeaders();
  });
}

function hintsOf(url: string, key: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { [EARLY_HINTS]: 'yes', 'content-type': 'application/json', 'x-smg-routing-key': key };
    const request = httpRequest(url + CHAT, { method: 'POST', headers, agent: false });
    let hints = 'dropped';
    request.on('information', ({ statusCode }) => {
      hints = String(statusCode);
    });
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? hints : `${response.statusCode}`);
    });
    request.end('{"model":"chat"}');
  });
}
