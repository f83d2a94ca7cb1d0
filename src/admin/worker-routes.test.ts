import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminBench, expectError } from '../../test/support/admin-bench.ts';
import { MemoryPinStore } from '../pins/memory-pin-store.ts';

const A = 'http://127.0.0.1:8000';

let bench: AdminBench;

beforeEach(async () => {
  bench = await new AdminBench().open();
});
afterEach(() => bench.close());

describe('smg-observed 8 workers', () => {
  it('are listed in registration order with every field', async () => {
    bench.addReady(A, { name: 'a', models: [{ id: 'm' }, { id: 'n' }], labels: { zone: 'z1' }, api_key: 'sekret' });
    bench.addReady('http://127.0.0.1:8001', { worker_type: 'prefill', runtime_type: 'sglang', bootstrap_port: 9 });
    bench.registry.probed(
      bench.registry.instance(A)!,
      { at: Date.UTC(2026, 1, 2), ok: true, detail: 'HTTP 200', durationMs: 1.23456 },
      { successThreshold: 1, failureThreshold: 1 },
      true,
    );

    const { json, text } = await bench.ask('GET', '/workers');

    expect(json).toEqual({
      workers: [
        {
          id: A,
          url: A,
          name: 'a',
          status: 'ready',
          is_healthy: true,
          model_id: 'm',
          models: [{ id: 'm' }, { id: 'n' }],
          worker_type: 'regular',
          connection_mode: 'http',
          runtime_type: null,
          bootstrap_port: null,
          priority: 50,
          cost: 1,
          labels: { zone: 'z1' },
          source: 'flags',
          address: '127.0.0.1:8000',
          load: 0,
          own_load: 0,
          routing_keys: 0,
          own_routing_keys: 0,
          breaker: 'closed',
          overloaded: false,
          overload: null,
          load_monitor_interval_secs: null,
          engine_load: null,
          pins: 0,
          last_probe: { at: '2026-02-02T00:00:00.000Z', ok: true, detail: 'HTTP 200', duration_ms: 1.235 },
        },
        expect.objectContaining({ model_id: 'unknown', models: [], runtime_type: 'sglang', last_probe: null }),
      ],
      total: 2,
      stats: { prefill_count: 1, decode_count: 0, regular_count: 1 },
    });
    expect(text).not.toContain('sekret');
  });

  it.each([
    [{}, { pd_pairing: '?/?/?' }],
    [
      { runtime_type: 'vllm', kv_connector: 'NixlConnector', kv_engine_id: 'e' },
      { kv_connector: 'NixlConnector', kv_engine_id: 'e', pd_pairing: 'vllm/nixl/?' },
    ],
    [{ labels: { kv_connector: 'Foo', kv_engine_id: 'x' } }, { kv_connector: 'Foo', kv_engine_id: 'x' }],
  ])('of a leg show how it hands over its cache: %j', async (fields, shown) => {
    bench.addReady(A, { worker_type: 'prefill', ...fields });
    const [worker] = (await bench.ask('GET', '/workers')).json.workers;
    expect(worker).toMatchObject(shown);
    expect('kv_connector' in worker).toBe('kv_connector' in shown);
  });

  it('show how many keys are pinned to them', async () => {
    const pins = new MemoryPinStore({ maxPins: 10 });
    await bench.open({ pins });
    bench.addReady(A);
    for (const key of ['k1', 'k2']) pins.put(key, [A], 0, 0);

    const shown = (await bench.ask('GET', '/workers')).json.workers[0].pins;

    expect([shown, (await bench.ask('GET', `/workers/${encodeURIComponent(A)}`)).json.pins]).toEqual([2, 2]);
  });

  it('show what is in flight', async () => {
    bench.addReady(A);
    bench.registry.instance(A)!.load.add('k1');
    bench.registry.instance(A)!.load.add('k1');

    expect((await bench.ask('GET', '/workers')).json.workers[0]).toMatchObject({ load: 2, routing_keys: 1 });
  });

  it.each([
    ['http://127.0.0.1:8000', 'http%3A%2F%2F127.0.0.1%3A8000'],
    ['http://[2001:db8::1]:8000', 'http%3A%2F%2F%5B2001%3Adb8%3A%3A1%5D%3A8000'],
    ['http://[::1]', 'http%3a%2f%2f[::1]'],
    ['http://worker-1.svc', 'http%3A%2F%2Fworker-1.svc'],
  ])('%s is found by its URL-encoded id', async (id, segment) => {
    bench.addReady(id);

    const answer = await bench.ask('GET', `/workers/${segment}`);

    expect([answer.status, answer.json.id]).toEqual([200, id]);
    expect((await bench.ask('POST', `/workers/${segment}/drain`)).json).toMatchObject({ worker_id: id });
  });

  it.each([
    ['http%3A%2F%2F10.0.0.1%3A1%40', 'http://10.0.0.1:1@'],
    ['http%3A%2F%2F10.0.0.1%3A8000%401', 'http://10.0.0.1:8000@1'],
    ['100%25', '100%'],
    ['%zz', '%zz'],
    ['%252F', '%2F'],
    ['a%20b', 'a b'],
  ])('an id that nobody has (%s) is decoded once and not found', async (segment, decoded) => {
    for (const [method, path, body] of [
      ['GET', `/workers/${segment}`],
      ['DELETE', `/workers/${segment}`],
      ['PUT', `/workers/${segment}`, {}],
      ['PATCH', `/workers/${segment}`, {}],
      ['POST', `/workers/${segment}/drain`],
      ['POST', `/workers/${segment}/undrain`],
    ] as const) {
      const answer = await bench.ask(method, path, body);
      expectError(answer, 404, 'worker_not_found', 'Not Found');
      expect(answer.json.error.message).toContain(JSON.stringify(decoded));
    }
  });
});

describe('interface 9 changes of workers', () => {
  it('POST adds a worker and tells where it is', async () => {
    const answer = await bench.ask('POST', '/workers', { url: `${A}/`, name: 'new' });

    const location = '/workers/http%3A%2F%2F127.0.0.1%3A8000';
    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({
      status: 'accepted',
      worker_id: A,
      url: A,
      location,
      message: expect.stringMatching(/./),
    });
    expect(answer.headers.get('location')).toBe(location);
    expect((await bench.ask('GET', location)).json).toMatchObject({
      name: 'new',
      status: 'pending',
      is_healthy: false,
      source: 'api',
    });
  });

  it.each(['http://127.0.0.1:8000', 'http://127.0.0.1:8000/'])('POST of %s again is 409', async (url) => {
    bench.addReady(A);

    expectError(await bench.ask('POST', '/workers', { url }), 409, 'worker_already_exists', 'Conflict');
  });

  it.each([
    ['no JSON', '{"url":', 'JSON'],
    ['an empty body', '', 'JSON'],
    ['no object', '[]', 'object'],
    ['no url', '{}', 'url'],
    ['a url with a path', '{"url":"http://a:1/x"}', 'url'],
    ['an https url', '{"url":"https://a:1"}', 'https'],
    ['an unknown field', '{"url":"http://a:1","weight":3}', 'weight'],
    ['a bad priority', '{"url":"http://a:1","priority":-1}', 'priority'],
    ['a prototype', '{"url":"http://a:1","__proto__":{"x":1}}', 'worker'],
  ])('POST with %s is 400 and names it', async (_title, body, named) => {
    const answer = await bench.ask('POST', '/workers', body);

    expectError(answer, 400, 'bad_request', 'Bad Request');
    expect(answer.json.error.message).toContain(named);
    expect(bench.registry.current.workers).toEqual([]);
  });

  it('a body of another content type is 400', async () => {
    const answer = await bench.ask('POST', '/workers', { url: A }, { 'content-type': 'text/plain' });

    expectError(answer, 400, 'bad_request', 'Bad Request');
  });

  it('PATCH changes what it names and keeps the rest', async () => {
    bench.addReady(A, { name: 'a', priority: 7 });

    const answer = await bench.ask('PATCH', `/workers/${encodeURIComponent(A)}`, { priority: 9 });

    expect([answer.status, answer.json.worker_id]).toEqual([202, A]);
    expect(bench.registry.current.byId(A)).toMatchObject({ name: 'a', priority: 9 });
  });

  it.each([{ url: 'http://b:1' }, { priority: 'x' }, [], 3, null])('PATCH with %j is 400', async (body) => {
    bench.addReady(A);

    expectError(await bench.ask('PATCH', `/workers/${encodeURIComponent(A)}`, body), 400, 'bad_request', 'Bad Request');
  });

  it('PUT sets everything anew, with or without the URL', async () => {
    bench.addReady(A, { name: 'a', priority: 7 });

    expect((await bench.ask('PUT', `/workers/${encodeURIComponent(A)}`, { cost: 2 })).status).toBe(202);
    expect(bench.registry.current.byId(A)).toMatchObject({ name: A, priority: 50, cost: 2 });
    expect((await bench.ask('PUT', `/workers/${encodeURIComponent(A)}`, { url: A })).status).toBe(202);
  });

  it.each([{ url: 'http://b:1' }, { cost: -1 }, []])('PUT with %j is 400', async (body) => {
    bench.addReady(A);

    expectError(await bench.ask('PUT', `/workers/${encodeURIComponent(A)}`, body), 400, 'bad_request', 'Bad Request');
  });

  it('DELETE removes a worker', async () => {
    bench.addReady(A);

    expect((await bench.ask('DELETE', `/workers/${encodeURIComponent(A)}`)).status).toBe(202);
    expectError(await bench.ask('GET', `/workers/${encodeURIComponent(A)}`), 404, 'worker_not_found', 'Not Found');
  });

  it('drain and undrain are accepted and can be repeated', async () => {
    bench.addReady(A);
    const path = `/workers/${encodeURIComponent(A)}`;

    for (let i = 0; i < 2; i++) expect((await bench.ask('POST', `${path}/drain`)).status).toBe(202);
    expect((await bench.ask('GET', path)).json.status).toBe('draining');
    for (let i = 0; i < 2; i++) expect((await bench.ask('POST', `${path}/undrain`)).status).toBe(202);
    expect((await bench.ask('GET', path)).json.status).toBe('ready');
  });

  it.each([
    ['POST', '/drain', undefined],
    ['POST', '/undrain', undefined],
    ['PUT', '', {}],
    ['PATCH', '', { priority: 1 }],
  ] as const)('%s %s of a worker on its way out is 409', async (method, verb, body) => {
    bench.addReady(A);
    bench.registry.instance(A)!.load.add(null);
    await bench.ask('DELETE', `/workers/${encodeURIComponent(A)}`);

    const answer = await bench.ask(method, `/workers/${encodeURIComponent(A)}${verb}`, body);

    expectError(answer, 409, 'worker_removing', 'Conflict');
  });

  it('a worker on its way out can be added again only when it is gone, which the answer says', async () => {
    bench.addReady(A);
    bench.registry.instance(A)!.load.add(null);
    await bench.ask('DELETE', `/workers/${encodeURIComponent(A)}`);

    const answer = await bench.ask('POST', '/workers', { url: A });

    expectError(answer, 409, 'worker_already_exists', 'Conflict');
    expect(answer.json.error.message).toContain('add it again when it is gone');
  });

  it('is logged with the worker, once', async () => {
    await bench.ask('POST', '/workers', { url: A, api_key: 'sekret' });

    expect(bench.logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ worker: A, actor: 'anyone', level: 'info' }),
    ]);
    expect(bench.logged.join()).not.toContain('sekret');
  });
});

describe('policies 2.4 data-parallel ranks', () => {
  const path = (id: string) => `/workers/${encodeURIComponent(id)}`;
  const rank = (id: number) => `${A}@${id}`;
  let ranks: AdminBench;
  beforeEach(async () => {
    ranks = await new AdminBench({ dpAware: true }).open();
  });
  afterEach(() => ranks.close());
  const told = (size: number) => ranks.registry.ranksAnswered(ranks.registry.instance(A)!, size);
  const listed = async () => (await ranks.ask('GET', '/workers')).json.workers;

  it('are shown with the members that SMG has for them', async () => {
    expect((await ranks.ask('POST', '/workers', { url: A, name: 'gpu' })).json).toMatchObject({ worker_id: A });
    told(2);
    ranks.registry.assumeReady(ranks.registry.instance(rank(0))!);

    const workers = await listed();

    expect(workers).toMatchObject(
      [0, 1].map((id) => ({
        id: rank(id),
        url: rank(id),
        name: `gpu@${id}`,
        dp_base_url: A,
        dp_rank: id,
        dp_size: 2,
        address: '127.0.0.1:8000',
      })),
    );
    expect((await ranks.ask('GET', path(rank(1)))).json).toEqual(workers[1]);
    expect((await ranks.ask('GET', path(A))).json).toEqual({
      id: A,
      url: A,
      status: 'pending',
      is_healthy: false,
      dp_size: 2,
      ranks: workers,
    });
    ranks.registry.assumeReady(ranks.registry.instance(rank(1))!);
    expect((await ranks.ask('GET', path(A))).json).toMatchObject({ status: 'ready', is_healthy: true });
  });

  it('change one by one by their ids, together by the URL of their engine', async () => {
    await ranks.ask('POST', '/workers', { url: A });
    told(3);

    await ranks.ask('PATCH', path(rank(1)), { priority: 7 });
    await ranks.ask('PATCH', path(A), { cost: 2 });
    expect((await listed()).map((each: Record<string, unknown>) => [each['priority'], each['cost']])).toEqual([
      [50, 2],
      [7, 2],
      [50, 2],
    ]);
    await ranks.ask('POST', `${path(A)}/drain`);
    await ranks.ask('POST', `${path(rank(1))}/undrain`);
    expect((await listed()).map((each: Record<string, unknown>) => each['status'])).toEqual([
      'draining',
      'pending',
      'draining',
    ]);
    expect((await ranks.ask('DELETE', path(rank(0)))).status).toBe(202);
    expect((await listed()).map((each: Record<string, unknown>) => each['id'])).toEqual([rank(1), rank(2)]);
    expect((await ranks.ask('PUT', path(A), { name: 'x' })).status).toBe(202);
    expect((await listed()).map((each: Record<string, unknown>) => each['name'])).toEqual(['x@1', 'x@2']);
    expect((await ranks.ask('DELETE', path(A))).status).toBe(202);
    expect(await listed()).toEqual([]);
    expectError(await ranks.ask('GET', path(A)), 404, 'worker_not_found', 'Not Found');
    ranks.registry.close();
  });

  it('an engine is not added twice, nor a rank that it has; one that was removed is', async () => {
    await ranks.ask('POST', '/workers', { url: A });
    told(2);

    expectError(await ranks.ask('POST', '/workers', { url: A }), 409, 'worker_already_exists', 'Conflict');
    expectError(await ranks.ask('POST', '/workers', { url: rank(1) }), 409, 'worker_already_exists', 'Conflict');
    await ranks.ask('DELETE', path(rank(1)));
    expect((await ranks.ask('POST', '/workers', { url: rank(1) })).status).toBe(202);
  });

  it('cannot be declared without --dp-aware', async () => {
    const answer = await bench.ask('POST', '/workers', { url: rank(1) });

    expectError(answer, 400, 'bad_request', 'Bad Request');
    expect(answer.text).toContain('needs --dp-aware');
  });
});
