import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { prefillOrder } from '../../test/support/prefill-order.ts';
import { json, type StubAnswer, StubWorker } from '../../test/support/stub-worker.ts';
import { until } from '../../test/support/until.ts';
import type { Handoff, PrefillFailure, PrefillOrder, PrefillRun } from '../picker/prefill-dispatch.ts';
import { BODY_MEMBERS } from '../request/body-members.ts';
import { scanObject } from '../request/json-scanner.ts';
import { DEFAULT_UPSTREAM } from '../workers/upstream.ts';
import { PrefillClient } from './prefill-client.ts';
import type { PrefillWorker } from './prefill-worker.ts';
import { ServiceDispatch } from './service-dispatch.ts';

const PATH = '/v1/chat/completions';
const ROOM = String(2n ** 63n - 1n);
const RETURNED = { remote_engine_id: 'e1', remote_block_ids: [1, 2] };

let engine: StubWorker;
let client: PrefillClient;
let dispatch: ServiceDispatch;
let facts: Partial<PrefillWorker>;
let decodeFacts: Partial<PrefillWorker>;
let told: string[];
/** Body that the prefill worker got. */
let received: string;

beforeEach(async () => {
  engine = await StubWorker.start();
  client = new PrefillClient({ connectTimeoutMs: 1000, upstream: DEFAULT_UPSTREAM });
  facts = {};
  decodeFacts = {};
  told = [];
  received = '';
  dispatch = new ServiceDispatch({
    client,
    find: ({ id }) => ({
      origin: engine.url,
      authority: 'prefill.local:8000',
      host: 'prefill.local',
      apiKey: null,
      order: 'sequential',
      connector: 'NixlConnector',
      bootstrapPort: null,
      engineId: null,
      rank: null,
      ...facts,
      ...(id === 'http://d' ? decodeFacts : {}),
    }),
    observer: {
      connector: (mode) => told.push(`connector ${mode}`),
      noTransfer: () => told.push('no transfer'),
      noBootstrap: () => told.push('no bootstrap'),
      ended: (worker, model) => told.push(`ended ${worker.id} ${model}`),
      failed: (phase, reason) => told.push(`failed ${phase} ${reason}`),
    },
    timeoutMs: 5000,
    requestTimeoutMs: 60_000,
    fill: (bytes) => bytes.fill(0xff),
    wallNow: () => 0,
    clock: () => performance.now(),
  });
  answer(json({ id: 'x', kv_transfer_params: RETURNED }));
});

afterEach(async () => {
  await client.close();
  await engine.dies();
});

function answer(how: StubAnswer): void {
  engine.pages = {
    [PATH]: (request, response) => {
      request.on('data', (chunk) => {
        received += chunk;
      });
      request.on('end', () => {
        if (typeof how === 'function') how(request, response);
        else if (typeof how === 'number') response.writeHead(how).end('{}');
        else if (how === 'reset') request.socket.resetAndDestroy();
      });
    },
  };
}

function order(body: object | null = { messages: [] }, parts: Partial<PrefillOrder> = {}): PrefillOrder {
  return prefillOrder({
    head: headOf({ path: PATH, headers: [['x-smg-routing-key', 'k']] }),
    body: body === null ? null : scanObject(Buffer.from(JSON.stringify(body)), BODY_MEMBERS),
    mostBodyBytes: Number.POSITIVE_INFINITY,
    requestId: 'r-1',
    ...parts,
  });
}

function running(started: Handoff | PrefillFailure | PrefillRun): PrefillRun {
  if ('kind' in started) throw new Error(`settled at once: ${JSON.stringify(started)}`);
  return started;
}

async function handedOn(made: PrefillOrder): Promise<{ body: unknown }> {
  const started = dispatch.start(made);
  const taken = 'kind' in started ? started : await started.handoff;
  if (!('kind' in started)) await started.done;
  if (taken.kind === 'failed') throw new Error(taken.message);
  return { body: taken.body === null ? null : JSON.parse(taken.body.toString()) };
}

describe('policies 4.4 sequential dispatch', () => {
  it.each([{}, { n: 2 }])('a client names no cache to a worker: %j', async (more) => {
    answer(json({ id: 'x' }));
    const { body } = await handedOn(order({ ...more, kv_transfer_params: { remote_host: 'elsewhere' } }));
    expect(body).toEqual({ ...more });
    expect(received).not.toContain('elsewhere');
  });

  it('asks the prefill worker first, and hands on what it returned', async () => {
    const { body } = await handedOn(order({ model: 'm', stream: true, max_tokens: 9 }));

    expect(JSON.parse(received)).toEqual({
      model: 'm',
      stream: false,
      max_tokens: 1,
      kv_transfer_params: { do_remote_decode: true, do_remote_prefill: false },
    });
    expect(body).toEqual({ model: 'm', stream: true, max_tokens: 9, kv_transfer_params: RETURNED });
    expect(told).toEqual(['connector nixl', 'ended http://p m']);
  });

  it('mooncake names the same transfer on both legs', async () => {
    facts = { connector: 'MooncakeConnector', engineId: 'eng', bootstrapPort: 9000 };
    const { body } = await handedOn(order());

    const id = 'xfer-00000000-0000-7fff-bfff-ffffffffffff';
    expect(JSON.parse(received)).toMatchObject({ kv_transfer_params: { transfer_id: id, do_remote_decode: true } });
    expect(body).toMatchObject({
      kv_transfer_params: {
        transfer_id: id,
        do_remote_prefill: true,
        remote_engine_id: 'eng',
        remote_bootstrap_addr: 'http://prefill.local:9000',
      },
    });
  });

  it.each<[string, StubAnswer]>([
    ['without parameters', json({ id: 'x' })],
    ['with null', json({ kv_transfer_params: null })],
    ['that is no JSON', (_, response) => response.end('thanks')],
  ])('an answer %s leaves the prompt to the decode worker, and is counted', async (_, how) => {
    answer(how);
    const { body } = await handedOn(order());
    expect(body).toBeNull();
    expect(told).toContain('no transfer');
  });

  it('an unknown connector says nothing and hands on what comes', async () => {
    facts = { connector: null };
    const { body } = await handedOn(order({ kv_transfer_params: { mine: 1 } }));
    expect(JSON.parse(received)).toMatchObject({ kv_transfer_params: { mine: 1 } });
    expect(body).toEqual({ kv_transfer_params: RETURNED });
    expect(told[0]).toBe('connector passthrough');
  });

  it('an unknown connector may have named its cache elsewhere', async () => {
    facts = { connector: null };
    answer(json({ id: 'x' }));
    expect(await handedOn(order())).toEqual({ body: null });
    expect(told).toEqual(['connector passthrough', 'ended http://p m']);
  });

  it('mooncake needs an engine id: without one the decode worker computes the prompt', async () => {
    facts = { connector: 'MooncakeConnector' };
    expect(await handedOn(order())).toEqual({ body: null });
    expect(JSON.parse(received)).not.toHaveProperty('kv_transfer_params');
    expect(told).toEqual(['connector mooncake', 'ended http://p m']);
  });

  it.each([
    ['LMCacheConnectorV1', 'NixlConnector'],
    [null, 'MooncakeStoreConnector'],
    ['MooncakeConnector', null],
  ])('a client names no cache where one leg may fetch by its word: %j and %j', async (prefill, decode) => {
    facts = { connector: prefill };
    decodeFacts = { connector: decode };
    answer(json({ id: 'x' }));
    const { body } = await handedOn(order({ kv_transfer_params: { remote_host: 'elsewhere' } }));
    expect(body).toEqual({});
    expect(received).not.toContain('elsewhere');
  });

  it('several answers need no prefill', () => {
    expect(dispatch.start(order({ n: 2 }))).toMatchObject({ kind: 'handoff', body: null });
    expect(told).toEqual(['connector nixl']);
    expect(dispatch.start(order({ n: 2 }, { model: 'canonical' }))).toMatchObject({
      body: Buffer.from('{"model":"canonical","n":2}'),
    });
    expect(engine.asked).toEqual([]);
  });

  it.each<[string, PrefillOrder]>([
    ['was not read whole', order(null)],
    ['cannot be replaced', order({}, { mostBodyBytes: 0 })],
    ['is over the limit', order({}, { mostBodyBytes: 1 })],
  ])('where the body %s the decode worker computes the prompt', (_, made) => {
    expect(dispatch.start(made)).toMatchObject({ kind: 'handoff', body: null });
    expect(told).toEqual(['no transfer']);
    expect(engine.asked).toEqual([]);
  });

  it('where it grows over the limit too', async () => {
    expect(await handedOn(order({}, { mostBodyBytes: 10 }))).toEqual({ body: null });
    expect(told).toContain('no transfer');
  });

  it('sends what SMG sends of the headers', async () => {
    const headers: [string, string][] = [
      ['authorization', 'Bearer client'],
      ['traceparent', '00-a-b-01'],
      ['cookie', 'secret'],
      ['x-smg-routing-key', 'k'],
      ['x-smg-target-worker', '1'],
    ];
    await handedOn(order({}, { head: headOf({ path: PATH, headers }) }));
    expect(engine.lastHeaders).toMatchObject({
      host: 'prefill.local:8000',
      authorization: 'Bearer client',
      traceparent: '00-a-b-01',
      'x-smg-routing-key': 'k',
      'x-request-id': 'r-1',
      'content-type': 'application/json',
    });
    expect(engine.lastHeaders).not.toHaveProperty('cookie');
    expect(engine.lastHeaders).not.toHaveProperty('x-smg-target-worker');
  });

  it('the key of the worker stands for the client’s', async () => {
    facts = { apiKey: 'worker-key' };
    await handedOn(order({}, { head: headOf({ path: PATH, headers: [['authorization', 'Bearer client']] }) }));
    expect(engine.lastHeaders).toMatchObject({ authorization: 'Bearer worker-key' });
  });
});

describe('policies 4.3 parallel dispatch', () => {
  beforeEach(() => {
    facts = { order: 'parallel', host: '[fd00::1]', bootstrapPort: 9000 };
  });

  it('the decode leg begins when the prefill worker has the request, not when it has done it', async () => {
    answer('hang');
    const run = running(dispatch.start(order({ model: 'm' })));
    const taken = await run.handoff;

    expect(taken).toMatchObject({
      kind: 'handoff',
      body: Buffer.from(`{"bootstrap_host":"fd00::1","bootstrap_port":9000,"bootstrap_room":${ROOM},"model":"m"}`),
    });
    await until(() => received !== '', 'the prefill worker got its body');
    expect(received).toBe((taken as Handoff).body?.toString());
    run.cancel();
    await run.done;
    await until(() => engine.connections === 0, 'the prefill was ended');
    expect(told).toEqual([]);
  });

  it('a prefill worker that cannot be reached fails the request before its decode', async () => {
    await engine.dies();
    expect(await running(dispatch.start(order())).handoff).toEqual({
      kind: 'failed',
      status: 502,
      code: 'prefill_request_failed',
      message: 'The prefill worker could not be reached',
    });
    expect(told).toEqual(['failed before_decode connection']);
  });

  it.each<[string, PrefillOrder, number, string]>([
    ['was not read whole', order(null), 413, 'could not be read whole'],
    ['cannot be replaced', order({}, { mostBodyBytes: 0 }), 501, 'cannot be changed here'],
    ['grows over the limit', order({}, { mostBodyBytes: 10 }), 413, 'is too large'],
  ])('a body that %s cannot name a room', (_, made, status, message) => {
    expect(dispatch.start(made)).toMatchObject({ kind: 'failed', status, message: expect.stringContaining(message) });
    expect(told).toEqual(['no bootstrap']);
    expect(engine.asked).toEqual([]);
  });
});

describe('a prefill that fails', () => {
  it.each<[string, StubAnswer, string | null]>([
    ['a good answer', 200, 'success'],
    ['an error', 500, 'failure'],
    ['a client’s fault', 400, 'success'],
    ['overload', 429, null],
    ['a broken connection', 'reset', 'failure'],
  ])('%s is told to its breaker', async (_, how, outcome) => {
    answer(how);
    expect(await running(dispatch.start(order())).done).toBe(outcome);
  });

  it('beside its decode is counted, since the client cannot be told', async () => {
    facts = { order: 'parallel' };
    answer(500);
    const run = running(dispatch.start(order()));
    expect((await run.handoff).kind).toBe('handoff');
    expect(await run.done).toBe('failure');
    expect(told).toEqual(['failed beside_decode status']);
  });

  it.each<[string, StubAnswer, number, string, string]>([
    ['an error', (_, r) => r.writeHead(500).end('{"error":{"message":"boom"}}'), 500, 'prefill_upstream_error', 'boom'],
    ['a refusal', (_, r) => r.writeHead(400).end('{"message":"bad n"}'), 400, 'prefill_upstream_error', 'bad n'],
    ['another text', (_, r) => r.writeHead(500).end(' it burns\n'), 500, 'prefill_upstream_error', 'it burns'],
    [
      'what has no message',
      (_, r) => r.writeHead(422).end('{"detail":[{"loc":["n"]}]}'),
      422,
      'prefill_upstream_error',
      '{"detail":[{"loc":["n"]}]}',
    ],
    [
      'nothing',
      (_, r) => r.writeHead(429).end(),
      429,
      'prefill_upstream_error',
      'The prefill worker answered with status 429',
    ],
    [
      'a redirect',
      (_, r) => r.writeHead(307).end(),
      502,
      'prefill_upstream_error',
      'The prefill worker answered with status 307',
    ],
    ['a broken connection', 'reset', 502, 'prefill_request_failed', 'The prefill worker could not be reached'],
  ])('%s', async (_, how, status, code, message) => {
    answer(how);
    expect(await running(dispatch.start(order())).handoff).toEqual({ kind: 'failed', status, code, message });
    expect(told.at(-1)).toBe(`failed before_decode ${code === 'prefill_upstream_error' ? 'status' : 'connection'}`);
  });

  it('never tells an address', async () => {
    const { port } = engine;
    await engine.dies();
    const taken = await running(dispatch.start(order())).handoff;
    expect(JSON.stringify(taken)).not.toContain(String(port));
  });

  it('a worker whose name does not resolve is not asked', () => {
    facts = { origin: '' };
    expect(dispatch.start(order())).toMatchObject({ kind: 'failed', status: 502 });
  });

  it('a client that leaves ends it, which is no fault of the worker', async () => {
    answer('hang');
    const run = running(dispatch.start(order()));
    await until(() => received !== '', 'the prefill worker got its body');
    run.cancel();
    expect((await run.handoff).kind).toBe('failed');
    await until(() => engine.connections === 0, 'the prefill was ended');
    expect(told).toEqual(['connector nixl']);
  });
});
