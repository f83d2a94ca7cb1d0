import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ask, noEnvoy, type Outgoing, rawHttp } from '../support/services.ts';
import { type Stack, startStack } from '../support/stack.ts';

const CHAT = '/v1/chat/completions';
const FLAGS = ['--policy', 'round_robin', '--routing-key-override', '--retry-initial-backoff-ms', '1'];
const MEBIBYTE = 1024 * 1024;

const STRING_RID = [CHAT, '/v1/completions', '/v1/messages', '/generate', '/v1/embeddings', '/v1/classify'];
const LIST_RID = ['/rerank', '/v1/rerank'];

/** What nobody could route by: 400 `json_parse_error`, as SMG says (decisions 35). */
const BROKEN: readonly [what: string, path: string, body: string | Buffer][] = [
  ['a trailing comma', CHAT, '{"rid":"a",}'],
  ['a missing brace', CHAT, '{"rid":"a"'],
  ['text behind the object', CHAT, '{"rid":"a"} x'],
  ['a second object', CHAT, '{"rid":"a"}{"rid":"b"}'],
  ['single quotes', CHAT, "{'rid':'a'}"],
  ['white space only', CHAT, ' \n'],
  ['a list', CHAT, '["rid"]'],
  ['a string', CHAT, '"rid"'],
  ['a number', CHAT, '12'],
  ['null', CHAT, 'null'],
  ['bytes that are no text', CHAT, Buffer.from([0xff, 0xfe, 0x00, 0x01])],
  ['a megabyte of open brackets', CHAT, '['.repeat(MEBIBYTE)],
  ['a megabyte of open brackets within a member', CHAT, `{"rid":"a","x":${'['.repeat(MEBIBYTE)}`],
  ['a megabyte of open braces', CHAT, '{"a":'.repeat(MEBIBYTE / 5)],
  ['rid twice', CHAT, '{"rid":"a","rid":"b"}'],
  ['rid twice, once escaped', CHAT, '{"rid":"a","\\u0072id":"b"}'],
  ['model twice', CHAT, '{"model":"sim-model","model":"sim-model"}'],
  ['model of a wrong type', CHAT, '{"model":7}'],
  ['invalid UTF-8 in rid', CHAT, Buffer.from([...Buffer.from('{"rid":"'), 0xc3, 0x28, ...Buffer.from('"}')])],
  ['a lone surrogate in rid', CHAT, '{"rid":"\\ud800"}'],
  ['surrogates in the wrong order in rid', CHAT, '{"rid":"\\udc00\\ud800"}'],
  ['a raw control character in rid', CHAT, '{"rid":"a\u0001"}'],
  ['an unknown escape in rid', CHAT, '{"rid":"\\x"}'],
  ...STRING_RID.flatMap((path) =>
    ['7', '{}', '["a"]', 'true'].map((rid): [string, string, string] => [`rid ${rid}`, path, `{"rid":${rid}}`]),
  ),
  ...LIST_RID.flatMap((path) =>
    ['7', '{}', '[7]', '["a",7]', 'false'].map((rid): [string, string, string] => [
      `rid ${rid}`,
      path,
      `{"rid":${rid}}`,
    ]),
  ),
];

const bytes = (...codes: number[]): string => Buffer.from(codes).toString('latin1');
const json = (body: object, more: Outgoing['headers'] = {}): Outgoing => ({ body, headers: more });

/** What looks wrong and still is served: hints and keys are never an error (interface 10). */
const SERVED: readonly [what: string, out: Outgoing][] = [
  ['rid null', json({ rid: null })],
  ['rid empty', json({ rid: '' })],
  ['rid of 10,000 bytes', json({ rid: 'k'.repeat(10_000) })],
  ['rid with control characters, escaped', json({ rid: '\u0000\n\u007f' })],
  ['rid of a wrong type where it is no routing field', { path: '/v1/responses', body: { rid: 7 } }],
  ['rid of a wrong type where tokens are counted', { path: '/v1/messages/count_tokens', body: { rid: 7 } }],
  ['a body that no decision reads: the worker judges it', { path: '/v1/responses', body: '[' }],
  ['deep nesting, well-formed', { body: `{"x":${'['.repeat(400_000)}${']'.repeat(400_000)},"rid":"deep"}` }],
  ['text that is no JSON, of another type', { body: '{', headers: { 'content-type': 'text/plain' } }],
  ['a key of 129 bytes', json({}, { 'x-smg-routing-key': 'k'.repeat(129) })],
  ['a header of 50 KB', json({}, { 'x-smg-routing-key': 'k'.repeat(50_000) })],
  ['a key that is no UTF-8', json({}, { 'x-smg-routing-key': bytes(0xc3, 0x28) })],
  ['a key with a tab', json({}, { 'x-smg-routing-key': 'a\tb' })],
  ['an empty key', json({}, { 'x-smg-routing-key': '' })],
  ['a bad target worker', json({}, { 'x-smg-target-worker': '-1' })],
  ['bad routing tokens', json({}, { 'x-smg-routing-tokens': '1,,x' })],
  ['retries of its own', json({}, { 'x-envoy-max-retries': '0', 'x-envoy-upstream-rq-timeout-ms': '1' })],
  ['a forged destination', json({}, { 'x-gateway-destination-endpoint': '127.0.0.1:1' })],
  ['a forged worker id', json({}, { 'x-smg-routed-worker-id': 'http://evil:1' })],
  ['a query of 20 KB', { path: `${CHAT}?${'q'.repeat(20_000)}`, body: {} }],
];

describe.skipIf(noEnvoy())('bad input: no hang, no crash, no pin', () => {
  let stack: Stack;
  let pid = 0;
  beforeAll(async () => {
    stack = await startStack({ flags: FLAGS });
    pid = stack.service.pid;
  });
  afterAll(() => stack?.close());

  /** Whatever came, the next client is served by the same process. */
  afterEach(async () => {
    expect((await ask(stack.url, { path: CHAT, body: {} })).status).toBe(200);
    expect([stack.service.running, stack.service.pid, stack.envoy.output]).toEqual([true, pid, expect.any(String)]);
  });

  const send = (out: Outgoing): Promise<Answer> => ask(stack.url, { path: CHAT, method: 'POST', ...out });
  const pins = async () => (await stack.service.metrics()).sum('smg_envoy_pins');
  const given = { 'x-request-id': 'given-1', 'content-type': 'application/json' };

  it.each(BROKEN)('%s (%s): 400 json_parse_error', async (_, path, body) => {
    const before = await pins();
    const answer = await send({ path, body, headers: given });
    expectEnvelope(answer, 400, 'Bad Request', 'json_parse_error');
    expect(answer.headers['x-request-id']).toBe('given-1');
    expect(await pins()).toBe(before);
  });

  it('no content type: still read as JSON', async () => {
    const headers = ['content-length', '9'];
    expectEnvelope(await send({ headers, body: [Buffer.from('{"rid":7}')] }), 400, 'Bad Request', 'json_parse_error');
  });

  it.each(SERVED)('%s: served', async (what, out) => {
    const before = await pins();
    const answer = await send(out);
    expect(answer.status).toBe(200);
    const worker = stack.sim.workers.find(({ name }) => name === answer.headers['x-sim-worker']);
    expect(answer.headers['x-smg-routed-worker-id']).toBe(worker?.url);
    const valid = ['deep nesting, well-formed', 'a key with a tab', 'rid with control characters, escaped'];
    expect((await pins()) - before).toBe(valid.includes(what) ? 1 : 0);
  });

  it('a repeated key header: the first value counts', async () => {
    const headers = ['x-smg-routing-key', 'first', 'x-smg-routing-key', 'second'];
    const served = new Set<string | undefined>();
    for (let i = 0; i < 4; i++) served.add((await send({ headers, body: {} })).headers['x-sim-worker']);
    expect(served.size).toBe(1);
    const empty = ['x-smg-routing-key', '', 'x-smg-routing-key', 'second'];
    const before = await pins();
    await send({ headers: empty, body: {} });
    expect(await pins()).toBe(before);
  });

  it("a client's retry header cannot take retries away", async () => {
    stack.sim.workers[0]!.set({ failRate: 1 });
    const headers = { 'x-envoy-max-retries': '0' };
    const answers = await Promise.all(Array.from({ length: 6 }, () => send({ body: {}, headers })));
    stack.sim.set({ failRate: 0 });
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
  });

  it('a worker cannot speak for the service', async () => {
    const forged = ['x-smg-routed-worker-id: evil', 'x-smg-error-code: evil', 'x-request-id: evil'];
    const headers = { ...given, 'x-sim': JSON.stringify({ headers: forged }) };
    const answer = await send({ body: {}, headers });
    expect(answer.headers['x-smg-routed-worker-id']).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(answer.headers['x-smg-error-code']).toBeUndefined();
    expect(answer.headers['x-request-id']).toBe('given-1');
  });

  it('control headers of a client do not reach the worker', async () => {
    const control = {
      'x-smg-target-worker': '1',
      'x-smg-routing-tokens': '1,2',
      'x-smg-priority': 'system',
      'x-smg-tenant-id': 't',
      'x-smg-mcp': 'enabled',
      'x-smg-decision': 'mine',
      'x-gateway-destination-endpoint': '127.0.0.1:1',
    };
    const answer = await send({ body: {}, headers: { ...control, 'x-smg-routing-key': 'kept' } });
    const worker = stack.sim.workers.find(({ name }) => name === answer.headers['x-sim-worker']);
    const names = worker?.seen.last?.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
    expect(names?.filter((name) => name in control)).toEqual([]);
    expect(names).toContain('x-smg-routing-key');
  });

  // Envoy takes a second to hang up.
  describe('refused by Envoy itself', { concurrent: true }, () => {
    it.each([
      ['a header of 70 KB', `POST ${CHAT} HTTP/1.1\r\nhost: a\r\nx-big: ${'k'.repeat(70_000)}\r\n\r\n`, 431],
      ['a path of 70 KB', `GET /${'p'.repeat(70_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, 431],
      ['a NUL in a key', `POST ${CHAT} HTTP/1.1\r\nhost: a\r\nx-smg-routing-key: a\0b\r\n\r\n`, 400],
      [
        'two lengths',
        `POST ${CHAT} HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`,
        400,
      ],
      ['a length that is no number', `POST ${CHAT} HTTP/1.1\r\nhost: a\r\ncontent-length: two\r\n\r\n{}`, 400],
      ['no HTTP at all', 'hello\r\n\r\n', 400],
    ])('%s', async (_, request, status) => {
      const answer = await rawHttp(stack.envoy.port, request);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(answer).not.toContain('x-smg-routed-worker-id');
    });
  });

  it('nothing a client sent becomes a label of a metric or a line of the log', async () => {
    await send({ body: { rid: 'secret-rid', model: 'secret-model' }, headers: { 'x-smg-routing-key': 'secret-key' } });
    await send({ body: '{"rid":"secret-rid","rid":"secret-rid"}', headers: given });
    const { text } = await stack.service.admin('/metrics');
    expect(text).not.toMatch(/secret-(rid|key)/);
    expect(stack.service.output).not.toContain('secret');
  });

  describe('workers of different models', () => {
    let mixed: Stack;
    beforeAll(async () => {
      const config = (urls: readonly string[]) =>
        JSON.stringify({ workers: urls.map((url, i) => ({ url, models: [{ id: `model-${i}` }] })) });
      mixed = await startStack({ known: 0, config, flags: FLAGS });
    });
    afterAll(() => mixed?.close());

    it.each(['nobody', '"quoted"\r\n\u0000', 'm'.repeat(5_000), '__proto__', 'clé-模型'])(
      'an unknown model, %j: 404 model_not_found',
      async (model) => {
        const answer = await ask(mixed.url, { path: CHAT, body: { model, rid: 'unknown_t1' }, headers: given });
        expectEnvelope(answer, 404, 'Not Found', 'model_not_found');
        expect(answer.headers['x-request-id']).toBe('given-1');
        expect((await mixed.service.metrics()).sum('smg_envoy_pins')).toBe(0);
      },
    );

    it('a known one goes to its worker', async () => {
      for (const [i, worker] of mixed.sim.workers.entries()) {
        const answer = await ask(mixed.url, { path: CHAT, body: { model: `model-${i}` } });
        expect(answer.headers['x-sim-worker']).toBe(worker.name);
      }
    });
  });
});

/** The shape of sticky-sessions 7.1, and nothing of a worker. */
function expectEnvelope(answer: Answer, status: number, type: string, code: string): void {
  expect(answer.status).toBe(status);
  expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-smg-error-code': code });
  expect(answer.json).toEqual({ error: { type, code, message: expect.stringMatching(/./), param: null } });
  expect(answer.headers['x-smg-routed-worker-id']).toBeUndefined();
}
