import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_HEADERS } from '../../src/request/agent-headers.ts';
import { type Answer, ask, http2Client, type Metrics, noEnvoy, type Outgoing, until } from '../support/services.ts';
import { type Stack, startStack } from '../support/stack.ts';

const CHAT = '/v1/chat/completions';
const SOURCES = 'headers,agents,cookie:sid,query:conv,body:/metadata/conversation,body:/user,opening';
const BASE = ['--policy', 'round_robin', '--sticky-sessions', '--log-level', 'warn'];
const CONVERSATIONS = 20;
const TURNS = 4;

/** One turn of a conversation whose client names it in its own way. */
type Client = (conversation: string, turn: number) => Outgoing & { readonly body: object };

/** A history without a name, alike in all conversations but for what `first` says. */
function history(turn: number, first = 'the same question'): { role: string; content: string }[] {
  const later = Array.from({ length: 2 * (turn - 1) }, (_, i) => ({
    role: i % 2 === 0 ? 'assistant' : 'user',
    content: `message ${i}`,
  }));
  return [{ role: 'system', content: 'a shared prompt' }, { role: 'user', content: first }, ...later];
}

const inHeaders =
  (headers: (conversation: string, turn: number) => readonly string[]): Client =>
  (conversation, turn) => ({ headers: headers(conversation, turn), body: { messages: history(turn) } });

const inBody =
  (members: (conversation: string, turn: number) => object): Client =>
  (_conversation, turn) => ({ body: { messages: history(turn), ...members(_conversation, turn) } });

describe.skipIf(noEnvoy())('sticky-sessions P12 a key of any source keeps 20 conversations whole', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ flags: [...BASE, '--routing-key-sources', SOURCES], concurrency: 2 });
  });
  afterAll(() => stack?.close());

  async function metricsWhenIdle(): Promise<Metrics> {
    return until(async () => {
      const metrics = await stack.service.metrics();
      return metrics.sum('smg_envoy_picks_in_flight') === 0 ? metrics : null;
    }, 'no request is in flight');
  }

  let plays = 0;

  /** Plays all conversations side by side, and holds what is true of every source. */
  async function keepsWhole(
    client: Client,
    source: string,
    readsBody: boolean,
    send: (out: Outgoing) => Promise<Answer> = (out) => ask(stack.url, out),
  ): Promise<void> {
    const prefix = `play${plays++}-`;
    const before = await metricsWhenIdle();
    const paths = await Promise.all(
      Array.from({ length: CONVERSATIONS }, async (_, number) => {
        const workers: string[] = [];
        for (let turn = 1; turn <= TURNS; turn++) {
          const answer = await send({ path: CHAT, method: 'POST', ...client(`${prefix}${number}`, turn) });
          expect(answer.status).toBe(200);
          workers.push(answer.headers['x-sim-worker'] ?? 'nobody');
        }
        return workers;
      }),
    );
    const after = await metricsWhenIdle();
    const added = (name: string, labels: Record<string, string> = {}) =>
      after.sum(name, labels) - before.sum(name, labels);

    expect(paths.filter((workers) => new Set(workers).size > 1)).toEqual([]);
    // The policy placed each conversation, in turn.
    expect(new Set(paths.flat()).size).toBe(3);
    const all = CONVERSATIONS * TURNS;
    expect(added('smg_envoy_routing_key_source_total', { source })).toBe(all);
    expect(added('smg_routing_key_source_total', { source: readsBody ? 'rid' : 'header' })).toBe(all);
    expect(added('smg_manual_policy_branch_total', { branch: 'vacant' })).toBe(CONVERSATIONS);
    expect(added('smg_envoy_bodies_requested_total')).toBe(readsBody ? all : 0);
    expect(added('smg_envoy_fail_open_total')).toBe(0);
  }

  it('headers', () =>
    keepsWhole(
      inHeaders((id, turn) => ['x-smg-routing-key', `${id}_t${turn}`]),
      'header',
      false,
    ));

  it.each(AGENT_HEADERS)('agents: %s', async (name) => {
    await keepsWhole(
      inHeaders((id) => [name, id]),
      'agents',
      false,
    );
  });

  it.each([['session_id'], ['thread_id']])('agents: %s over HTTP/2', async (name) => {
    const client = http2Client(stack.url);
    await keepsWhole(
      inHeaders((id) => [name, id]),
      'agents',
      false,
      (out) => client.ask(out),
    );
    client.close();
  });

  it('a cookie', () =>
    keepsWhole(
      inHeaders((id, turn) => ['cookie', `theme=dark; sid="${id}_t${turn}"; sid=later`]),
      'cookie',
      false,
    ));

  it('a cookie in a crumb of HTTP/2', async () => {
    const client = http2Client(stack.url);
    const crumbs: Client = (id, turn) => ({
      headers: { cookie: ['theme=dark', `sid=${id}`] },
      body: { messages: history(turn) },
    });
    await keepsWhole(crumbs, 'cookie', false, (out) => client.ask(out));
    client.close();
  });

  it('a query parameter', () =>
    keepsWhole(
      (id, turn) => ({ path: `${CHAT}?v=1&conv=${id}%20caf%C3%A9_t${turn}`, body: { messages: history(turn) } }),
      'query',
      false,
    ));

  it('a member within the body', () =>
    keepsWhole(
      inBody((id, turn) => ({ metadata: { trace: turn, conversation: `${id}_t${turn}` } })),
      'body',
      true,
    ));

  it('a number in the body', () =>
    keepsWhole(
      inBody((id) => ({ user: Number(id.replace(/\D/g, '')) })),
      'body',
      true,
    ));

  it('the opening', () =>
    keepsWhole((id, turn) => ({ body: { messages: history(turn, `question of ${id}`) } }), 'opening', true));

  it('the first source that has one wins', async () => {
    const everything = (conversation: string): Outgoing => ({
      path: `${CHAT}?conv=${conversation}-q`,
      headers: ['cookie', `sid=${conversation}-c`, 'session-id', `${conversation}-a`],
      body: { user: `${conversation}-u`, messages: history(1) },
    });
    const before = await metricsWhenIdle();

    for (const conversation of ['one', 'two', 'one']) await ask(stack.url, everything(conversation));

    const after = await metricsWhenIdle();
    const source = 'smg_envoy_routing_key_source_total';
    expect(after.sum(source, { source: 'agents' }) - before.sum(source, { source: 'agents' })).toBe(3);
    expect(after.sum(source) - before.sum(source)).toBe(3);
  });

  it('of two cookie headers of HTTP/1.1 the first one counts', async () => {
    const twice = (first: string, second: string): Outgoing => ({
      path: CHAT,
      headers: ['cookie', first, 'cookie', second],
      body: { messages: [] },
    });
    const before = await metricsWhenIdle();

    await ask(stack.url, twice('sid=twice', 'theme=dark'));
    await ask(stack.url, twice('theme=dark', 'sid=twice'));

    const after = await metricsWhenIdle();
    const source = 'smg_envoy_routing_key_source_total';
    expect(after.sum(source, { source: 'cookie' }) - before.sum(source, { source: 'cookie' })).toBe(1);
    expect(after.sum(source) - before.sum(source)).toBe(1);
  });

  it('no key ever comes back in a header of the request', async () => {
    const before = stack.sim.workers.map(({ seen }) => seen.last);

    await ask(stack.url, { path: `${CHAT}?conv=s3cret`, body: { messages: history(1) } });

    const last = stack.sim.workers.map(({ seen }) => seen.last).find((request, i) => request !== before[i]);
    const names = (last?.rawHeaders ?? []).filter((_, i, raw) => i % 2 === 1 && raw[i]?.includes('s3cret'));
    expect(last?.path).toContain('conv=s3cret');
    expect(names).toEqual([]);
  });
});

describe.skipIf(noEnvoy())('interface 3 `rid` alone', () => {
  it('keeps conversations whole, and no header is a key', async () => {
    const stack = await startStack({ flags: [...BASE, '--routing-key-sources', 'rid'] });
    try {
      const at = async (rid: string) =>
        (
          await ask(stack.url, {
            path: CHAT,
            headers: ['x-smg-routing-key', 'one for all'],
            body: { messages: history(1), ...(rid === '' ? {} : { rid }) },
          })
        ).headers['x-sim-worker'];

      const first = await at('conv_t1');
      const unkeyed = [await at(''), await at(''), await at('')];

      expect(await at('conv_t2')).toBe(first);
      expect(new Set(unkeyed).size).toBe(3);
    } finally {
      await stack.close();
    }
  });
});
