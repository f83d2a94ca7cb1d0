import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Answer, ask, http2Client, noEnvoy, type Outgoing, until } from '../support/services.ts';
import { type Stack, startStack } from '../support/stack.ts';

const CHAT = '/v1/chat/completions';
const FLAGS = ['--policy', 'round_robin', '--routing-key-override', '--disable-retries', '--max-payload-size', '1000'];

describe.skipIf(noEnvoy())('sticky-sessions 1.7 the request id', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ sim: { count: 1 }, flags: FLAGS });
  });
  afterAll(() => stack?.close());

  const send = (out: Outgoing): Promise<Answer> => ask(stack.url, { path: CHAT, method: 'POST', body: {}, ...out });

  /** What the worker got under a name, all of its values. */
  function atWorker(name: string): readonly string[] {
    const raw = stack.sim.workers[0]?.seen.last?.rawHeaders ?? [];
    return raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);
  }

  async function expectId(out: Outgoing, id: string | RegExp): Promise<void> {
    const answer = await send(out);
    const echoed = answer.headers['x-request-id'];
    expect(echoed).toMatch(typeof id === 'string' ? new RegExp(`^${id}$`) : id);
    expect(atWorker('x-request-id')).toEqual([echoed]);
  }

  it.each<[string, Record<string, string>, string]>([
    ['x-request-id', { 'x-request-id': 'a' }, 'a'],
    ['x-correlation-id', { 'x-correlation-id': 'b' }, 'b'],
    ['x-trace-id', { 'x-trace-id': 'c' }, 'c'],
    ['request-id', { 'request-id': 'd' }, 'd'],
    [
      'the first of the list',
      { 'request-id': 'd', 'x-trace-id': 'c', 'x-correlation-id': 'b', 'x-request-id': 'a' },
      'a',
    ],
    ['the next one that can be read', { 'x-request-id': 'é', 'x-correlation-id': 'b' }, 'b'],
    ['with blanks and a tab within', { 'x-request-id': 'a b\tc' }, 'a b\tc'],
    ['of 8,000 bytes', { 'x-request-id': 'i'.repeat(8_000) }, 'i'.repeat(8_000)],
  ])('is the one given: %s', async (_, headers, id) => {
    await expectId({ headers }, id);
    await expectId({ path: '/v1/responses', headers }, id);
  });

  it.each([
    [CHAT, 'chatcmpl-'],
    ['/v1/completions', 'cmpl-'],
    ['/generate', 'gnt-'],
    ['/v1/responses', 'resp-'],
    ['/v1/messages', 'msg_'],
    ['/v1/embeddings', 'req-'],
    [`${CHAT}?a=b`, 'chatcmpl-'],
  ])('is made for %s: %s and 24 alphanumerics', async (path, prefix) => {
    await expectId({ path }, new RegExp(`^${prefix}[A-Za-z0-9]{24}$`));
  });

  it('is made where the given one cannot be read, and no two are alike', async () => {
    const ids = new Set<string | undefined>();
    for (let i = 0; i < 20; i++) ids.add((await send({ headers: { 'x-request-id': 'clé' } })).headers['x-request-id']);
    expect(ids.size).toBe(20);
    await expectId({ headers: { 'x-request-id': 'clé' } }, /^chatcmpl-[A-Za-z0-9]{24}$/);
  });

  it('an empty one is an id: none is made', async () => {
    const answer = await send({ headers: { 'x-request-id': '' } });
    expect(answer.headers['x-request-id'] ?? '').toBe('');
  });

  it('takes the place of what the worker says', async () => {
    const headers = { 'x-request-id': 'mine', 'x-sim': '{"headers":["x-request-id: theirs"]}' };
    await expectId({ headers }, 'mine');
    await expectId({ headers: { 'x-sim': headers['x-sim'] } }, /^chatcmpl-/);
  });

  it('over HTTP/2', async () => {
    const client = http2Client(stack.url);
    const given = await client.ask({ path: CHAT, body: {}, headers: { 'x-correlation-id': 'two' } });
    const made = await client.ask({ path: CHAT, body: {} });
    client.close();
    expect(given.headers['x-request-id']).toBe('two');
    expect(made.headers['x-request-id']).toMatch(/^chatcmpl-[A-Za-z0-9]{24}$/);
  });

  describe.each<[string, Outgoing, number]>([
    ['a broken body', { body: '{' }, 400],
    ['a body over the cap', { body: 'x'.repeat(1_001) }, 413],
    ['an answer of the worker that is an error', { headers: { 'x-sim': '{"fail_rate":1,"fail_status":422}' } }, 422],
    ["Envoy's own error", { headers: { 'x-sim': '{"reset_rate":1}' } }, 503],
  ])('on %s', (_, out, status) => {
    it('the given one comes back', async () => {
      const answer = await send({
        ...out,
        headers: { ...out.headers, 'x-trace-id': 'given' } as Record<string, string>,
      });
      expect([answer.status, answer.headers['x-request-id']]).toEqual([status, 'given']);
    });

    it('so does a made one', async () => {
      const answer = await send(out);
      expect([answer.status, answer.headers['x-request-id']]).toEqual([
        status,
        expect.stringMatching(/^chatcmpl-[A-Za-z0-9]{24}$/),
      ]);
    });
  });

  it('--request-id-headers replaces the list', async () => {
    const other = await startStack({ sim: { count: 1 }, flags: [...FLAGS, '--request-id-headers', 'x-my-id'] });
    onTestFinished(() => other.close());
    const one = (headers: Record<string, string>) => ask(other.url, { path: CHAT, body: {}, headers });
    expect((await one({ 'x-my-id': 'm', 'x-request-id': 'r' })).headers['x-request-id']).toBe('m');
    expect((await one({ 'x-request-id': 'r' })).headers['x-request-id']).toMatch(/^chatcmpl-/);
  });

  it('while the service is away the given one still comes back, and none is made (decisions 38)', async () => {
    await stack.service.kill();
    const given = await send({ headers: { 'x-request-id': 'kept' } });
    const without = await send({});
    await stack.service.start();
    await until(async () => (await send({})).headers['x-request-id'], 'ids are made again');
    expect([given.status, given.headers['x-request-id']]).toEqual([200, 'kept']);
    expect([without.status, without.headers['x-request-id']]).toEqual([200, undefined]);
  });
});
