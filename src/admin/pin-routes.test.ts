import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminBench, expectError } from '../../test/support/admin-bench.ts';
import { TestFleet } from '../../test/support/fleet.ts';
import { modelPolicies, policyOptions, ROUTER_DEFAULTS, RouterDriver, SMG_KEYS } from '../../test/support/routing.ts';
import { MemoryPinStore } from '../pins/memory-pin-store.ts';
import { manualPinKey } from '../routing/pin-key.ts';
import { createRouter } from '../routing/router.ts';
import { keyHash } from '../telemetry/key-hash.ts';

const A = 'http://127.0.0.1:8000';
const B = 'http://127.0.0.1:8001';
const C = 'http://127.0.0.1:8002';
const ADMIN = [{ id: 'ops', name: 'Ops', role: 'admin', key: 'sekret' } as const];

let bench: AdminBench;
let pins: MemoryPinStore;

beforeEach(async () => {
  pins = new MemoryPinStore({ maxPins: 1000 });
  bench = await new AdminBench().open({ pins, clock: () => 5000 });
  bench.addReady(A, { models: [{ id: 'm' }] });
  bench.addReady(B, { models: [{ id: 'm' }] });
});
afterEach(() => bench.close());

const missing =
  (path: string, method = 'GET') =>
  async () =>
    expectError(await bench.ask(method, path), 404, 'pin_not_found', 'Not Found');

describe('interface 9 GET /pins', () => {
  it('lists the pins of this process', async () => {
    pins.put('1:m:s:conv', [A, B], 0, 1250);
    pins.put('@4:acme:1:m:d:conv', [C, B], 0, 5000);
    pins.put('@-:manual:s:x', [C], 0, 5000);
    pins.put(`@#${'d'.repeat(22)}:manual@1:m:p:y`, [A], 0, 6000);

    const { json } = await bench.ask('GET', '/pins');

    const common = { version: expect.any(Number), shared: false };
    expect(json).toEqual({
      pins: [
        {
          ...{ key: 'conv', kind: 'override', model: 'm', leg: 'single', worker_id: A, candidates: [A, B] },
          ...{ ...common, idle_secs: 3.75 },
        },
        {
          ...{ key: 'conv', kind: 'override', model: 'm', leg: 'decode', tenant: 'acme', worker_id: B },
          ...{ ...common, candidates: [C, B], idle_secs: 0 },
        },
        {
          ...{ key: 'x', kind: 'manual', model: null, leg: 'single', tenant: null, worker_id: null },
          ...{ ...common, candidates: [C], idle_secs: 0 },
        },
        {
          ...{ key: 'y', kind: 'manual', model: 'm', leg: 'prefill', tenant: null, tenant_digest: 'd'.repeat(22) },
          ...{ ...common, worker_id: A, candidates: [A], idle_secs: 0 },
        },
      ],
      total: 4,
      cursor: null,
      store: 'memory',
      away: false,
    });
  });

  it('pages', async () => {
    for (let i = 0; i < 250; i++) pins.put(`1:m:s:k${i}`, [A], 0, 0);
    const keys: string[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null; page++) {
      const { json } = await bench.ask('GET', `/pins?limit=120${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(json.pins).toHaveLength([120, 120, 10][page]!);
      keys.push(...json.pins.map(({ key }: { key: string }) => key));
      cursor = json.cursor;
    }

    expect(keys).toEqual(Array.from({ length: 250 }, (_, i) => `k${i}`));
    expect((await bench.ask('GET', '/pins')).json.pins).toHaveLength(100);
  });

  it.each(['limit=0', 'limit=1001', 'limit=x', 'limit=', 'limit=-1', 'limt=5'])('refuses %s', async (query) => {
    expectError(await bench.ask('GET', `/pins?${query}`), 400, 'bad_request', 'Bad Request');
  });
});

describe('interface 9 GET /pins/{key}', () => {
  it('shows one, as a request without model and leg has it', async () => {
    const { version } = pins.put('1:m:s:conv', [A, B], 0, 0);

    expect((await bench.ask('GET', '/pins/conv')).json).toEqual({
      ...{ key: 'conv', kind: 'override', model: 'm', leg: 'single', worker_id: A, candidates: [A, B] },
      local: { candidates: [A, B], version },
      shared: null,
      shared_reason: 'pins are kept in this process alone',
    });
  });

  it.each(['conv_t3', 'conv_t3_r1', 'conv_r2'])('finds the conversation of %s, as requests do', async (key) => {
    pins.put('1:m:s:conv', [A], 0, 0);

    expect((await bench.ask('GET', `/pins/${key}`)).json.key).toBe('conv');
  });

  it('finds first what is pinned under exactly that key', async () => {
    pins.put('1:m:s:conv', [A], 0, 0);
    pins.put('1:m:s:conv_t1', [B], 0, 0);

    expect((await bench.ask('GET', '/pins/conv_t1')).json).toMatchObject({ key: 'conv_t1', worker_id: B });
  });

  it.each(['a/b?c#d%', 'ü 😀', 'a:b', '_t1', '%2F', ' '])('takes a key of any bytes: %j', async (key) => {
    pins.put(`1:m:s:${key}`, [A], 0, 0);

    expect((await bench.ask('GET', `/pins/${encodeURIComponent(key)}`)).json.key).toBe(key);
  });

  it('finds keys of a model, also by its alias, and of none', async () => {
    bench.addReady(C, { models: [{ id: 'n/x' }] });
    const rules = { ...bench.pinRules(pins), modelAliases: new Map([['nice', 'n/x']]) };
    await bench.open({ pins, pinRules: () => rules });
    pins.put('3:n/x:s:conv', [C], 0, 0);
    pins.put('7:unknown:s:conv', [A], 0, 0);
    pins.put('4:gone:s:conv', [B], 0, 0);

    const workerOf = async (query: string) => (await bench.ask('GET', `/pins/conv${query}`)).json.worker_id;
    expect(await workerOf('?model=n%2Fx')).toBe(C);
    expect(await workerOf('?model=nice')).toBe(C);
    expect(await workerOf('')).toBe(A);
    expect(await workerOf('?model=')).toBe(A);
    expect(await workerOf('?model=gone')).toBe(B);
  });

  it('does not know other keys, models and tenants', async () => {
    pins.put('1:m:s:conv', [A], 0, 0);
    for (const path of ['/pins/other', '/pins/conv?model=n', '/pins/conv?model=m&leg=single/']) {
      expect((await bench.ask('GET', path)).status).not.toBe(200);
    }
    await missing('/pins/other')();
    await missing('/pins/conv?model=other')();
    expect((await bench.ask('GET', '/pins/o"?model=n')).json.error.message).toBe(
      'No pin of the key "o\\"" for model "n", leg single',
    );
  });

  it.each(['leg=x', 'leg=prefill', 'tenant=acme', 'modle=m'])('refuses %s', async (query) => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? { worker_id: A } : undefined;
      expectError(await bench.ask(method, `/pins/conv?${query}`, body), 400, 'bad_request', 'Bad Request');
    }
  });
});

describe('sticky-sessions P15 /pins of tenants', () => {
  beforeEach(async () => {
    const policies = modelPolicies('round_robin', policyOptions());
    const router = createRouter({ ...ROUTER_DEFAULTS, policies, pins, keys: SMG_KEYS, tenantHeader: 'x-tenant' });
    await bench.open({ pins, pinRules: () => ({ router, modelAliases: new Map(), tenants: true }) });
  });

  it('are found by the value of the header', async () => {
    pins.put('@4:acme:1:m:s:conv', [A], 0, 0);
    pins.put('@0::1:m:s:conv', [B], 0, 0);
    pins.put('@-:1:m:s:conv', [B, A], 0, 0);

    const candidates = async (query: string) => (await bench.ask('GET', `/pins/conv${query}`)).json.candidates;
    expect([await candidates('?tenant=acme'), await candidates('?tenant='), await candidates('')]).toEqual([
      [A],
      [B],
      [B, A],
    ]);
    await missing('/pins/conv?tenant=other')();
  });
});

describe('pins of manual', () => {
  beforeEach(async () => {
    const policies = modelPolicies('manual', policyOptions());
    const router = createRouter({ ...ROUTER_DEFAULTS, policies, pins, keys: SMG_KEYS });
    await bench.open({ pins, pinRules: () => ({ router, modelAliases: new Map(), tenants: false }) });
  });

  it('are found for all models alike, by the key as it is', async () => {
    pins.put('manual:s:conv', [A], 0, 0);

    expect((await bench.ask('GET', '/pins/conv?model=m')).json).toMatchObject({ kind: 'manual', model: null });
    await missing('/pins/conv_t1', 'DELETE')();
    expect(pins.size).toBe(1);
  });

  it('are found by a long key, and by what stands for it in the list', async () => {
    const long = 'k'.repeat(300);
    pins.put(manualPinKey('', 'single', long), [A], 0, 0);
    const [row] = (await bench.ask('GET', '/pins')).json.pins;

    for (const key of [long, row.key]) {
      expect((await bench.ask('GET', `/pins/${encodeURIComponent(key)}`)).json.worker_id).toBe(A);
    }
  });
});

describe('pins of legs', () => {
  it('are found by their leg, and of the decode leg without', async () => {
    await bench.close();
    const { router } = new RouterDriver(new TestFleet([]), { pair: {} });
    const pinRules = () => ({ router, modelAliases: new Map(), tenants: false });
    bench = await new AdminBench({ disaggregated: true }).open({ pins, pinRules });
    pins.put('7:unknown:p:conv', [A], 0, 0);
    pins.put('7:unknown:d:conv', [B], 0, 0);

    const legOf = async (query: string) => (await bench.ask('GET', `/pins/conv${query}`)).json.leg;
    expect([await legOf('?leg=prefill'), await legOf('?leg=decode'), await legOf('')]).toEqual([
      'prefill',
      'decode',
      'decode',
    ]);
    await missing('/pins/conv?leg=single')();
  });
});

describe('interface 9 PUT /pins/{key}', () => {
  it('puts the worker in front, and says where the key is now', async () => {
    bench.addReady(C, { models: [{ id: 'm' }] });
    const before = pins.put('1:m:s:conv', [A, B], 0, 0);

    const answer = await bench.ask('PUT', '/pins/conv_t7', { worker_id: C });

    expect([answer.status, answer.json]).toMatchObject([200, { key: 'conv', worker_id: C, candidates: [C, A] }]);
    expect(pins.peek('1:m:s:conv')?.version).toBeGreaterThan(before.version);
    const line = bench.logged.find((text) => text.includes('pin: moved'));
    expect(JSON.parse(line ?? '')).toMatchObject({ worker: C, keyHash: keyHash('1:m:s:conv'), actor: 'anyone' });
    expect(line).not.toContain('conv');
  });

  it('to where it is changes nothing', async () => {
    const before = pins.put('1:m:s:conv', [A, B], 0, 0);

    expect((await bench.ask('PUT', '/pins/conv', { worker_id: A })).json.local).toEqual({ ...before });
    expect(pins.peek('1:m:s:conv')).toEqual(before);
  });

  it('makes no pin of a key that is not known', async () => {
    expectError(await bench.ask('PUT', '/pins/conv', { worker_id: A }), 404, 'pin_not_found', 'Not Found');
    expect(pins.size).toBe(0);
  });

  it.each([
    ['http://nowhere:1', /^No worker has the id "http:\/\/nowhere:1"$/],
    ['http://127.0.0.1:9001', /gets no requests for model "m"/],
    ['http://127.0.0.1:9002', /is pending/],
    ['http://127.0.0.1:9003', /is draining/],
    ['http://127.0.0.1:9004', /gets no requests for model "m"/],
  ])('refuses %s, which cannot take it: %s', async (id, why) => {
    bench.addReady('http://127.0.0.1:9001', { models: [{ id: 'n' }] });
    bench.addPending('http://127.0.0.1:9002', { models: [{ id: 'm' }] });
    bench.addReady('http://127.0.0.1:9003', { models: [{ id: 'm' }] });
    bench.registry.drain('http://127.0.0.1:9003');
    bench.addReady('http://127.0.0.1:9004', { models: [{ id: 'm' }], worker_type: 'prefill' });
    const before = pins.put('1:m:s:conv', [A], 0, 0);

    const answer = await bench.ask('PUT', '/pins/conv?model=m', { worker_id: id });

    expectError(answer, 409, 'pin_worker_unusable', 'Conflict');
    expect(answer.json.error.message).toMatch(why);
    expect(pins.peek('1:m:s:conv')).toEqual(before);
  });

  it.each([[{}], [[]], [{ worker_id: '' }], [{ worker_id: 1 }], [{ worker_id: A, x: 1 }], ['"a"'], ['{']])(
    'refuses the body %j',
    async (body) => {
      pins.put('1:m:s:conv', [A], 0, 0);
      expectError(await bench.ask('PUT', '/pins/conv', body), 400, 'bad_request', 'Bad Request');
    },
  );
});

describe('interface 9 DELETE /pins/{key}', () => {
  it('forgets it', async () => {
    pins.put('1:m:s:conv', [A], 0, 0);

    const answer = await bench.ask('DELETE', '/pins/conv_t2');

    const message = 'Pin is forgotten';
    const deleted = { status: 'deleted', key: 'conv', kind: 'override', model: 'm', leg: 'single', message };
    expect([answer.status, answer.json]).toEqual([200, deleted]);
    expect(pins.size).toBe(0);
    expect(bench.logged.some((line) => line.includes('pin: forgotten'))).toBe(true);
    await missing('/pins/conv', 'DELETE')();
  });
});

describe('who may', () => {
  it('look with any key, and change with one of an admin', async () => {
    const keys = [...ADMIN, { id: 'view', name: 'View', role: 'user', key: 'look' } as const];
    await bench.open({ pins, keys });
    pins.put('1:m:s:conv', [A], 0, 0);
    const ask = async (method: string, path: string, key?: string) => {
      const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
      return (await bench.ask(method, path, method === 'PUT' ? { worker_id: B } : undefined, headers)).status;
    };

    expect(await ask('GET', '/pins')).toBe(401);
    expect([await ask('GET', '/pins', 'look'), await ask('GET', '/pins/conv', 'look')]).toEqual([200, 200]);
    expect([await ask('PUT', '/pins/conv', 'look'), await ask('DELETE', '/pins/conv', 'look')]).toEqual([403, 403]);
    expect([await ask('PUT', '/pins/conv', 'sekret'), await ask('DELETE', '/pins/conv', 'sekret')]).toEqual([200, 200]);
    expect(bench.logged.filter((line) => line.includes('"actor":"ops"'))).toHaveLength(2);
  });

  it.each([
    ['POST', '/pins', 'GET, HEAD'],
    ['POST', '/pins/conv', 'GET, HEAD, PUT, DELETE'],
  ])('%s %s is 405', async (method, path, allow) => {
    const answer = await bench.ask(method, path);
    expectError(answer, 405, 'method_not_allowed', 'Method Not Allowed');
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it('a body over 1 MiB is 413', async () => {
    const body = JSON.stringify({ worker_id: 'x'.repeat(1024 * 1024) });
    expectError(await bench.ask('PUT', '/pins/conv', body), 413, 'request_body_too_large', 'Payload Too Large');
  });
});
