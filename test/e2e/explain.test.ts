import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL } from '../support/bodies.ts';
import { ask, noEnvoy, type Stack, startStack, until } from '../support/services.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/smg-envoy.js', import.meta.url));
const CHAT = '/v1/chat/completions';
const says = (content: string) => ({ messages: [{ role: 'user', content }] });

interface Row {
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
  /** Branch of what is placed, or the status of what is not. */
  readonly told: string | number;
}

/** In this order: later ones go by what earlier ones left. */
const ROWS: readonly Row[] = [
  { name: 'a new key in the body', body: { rid: 'conv-1', ...says('hello') }, told: 'vacant' },
  { name: 'its next turn', body: { rid: 'conv-1_t2', ...says('hello again') }, told: 'occupied_hit' },
  { name: 'a new key in a header', headers: { 'x-smg-routing-key': 'conv-2' }, body: says('x'), told: 'vacant' },
  { name: 'its next turn', headers: { 'x-smg-routing-key': 'conv-2' }, body: says('x y'), told: 'occupied_hit' },
  { name: 'no key', body: says('a prompt of some length'), told: 'policy' },
  { name: 'no key, the same prompt', body: says('a prompt of some length'), told: 'policy' },
  { name: 'a rid that is none', body: { rid: 7 }, told: 400 },
  { name: 'a model that nobody serves', body: { model: 'other', rid: 'conv-1' }, told: 404 },
];

/** What decisions count or change; ages, polls, Envoy's health checks and log entries go on meanwhile. */
const DECISIONS = /^smg_\w*(policy|router_request|routing_key|decision|pins|selection|body|match|worker_requests)\w*/;

describe.skipIf(noEnvoy()).each(['random', 'power_of_two', 'round_robin', 'cache_aware'])(
  'interface 9 a dry run under %s names whom Envoy then goes to',
  (policy) => {
    let stack: Stack;
    beforeAll(async () => {
      stack = await startStack({
        flags: ['--policy', policy, '--routing-key-override', '--check-model', '--load-monitor-interval', '3600'],
        sim: { tokens: 1, tokenMs: 0 },
      });
    });
    afterAll(() => stack?.close());

    const counted = async () => {
      const { text } = await stack.service.admin('/metrics');
      return text.split('\n').filter((line) => DECISIONS.test(line));
    };

    it.each(ROWS)('$name: $told', async ({ headers = {}, body, told }) => {
      const sent = { model: MODEL, ...body };
      await until(async () => {
        const { workers } = (await stack.service.admin('/workers')).json;
        return workers.every(({ load }: { readonly load: number }) => load === 0);
      }, 'nothing is in flight');
      const before = await counted();
      const explained = await stack.service.admin('/explain', {
        headers: { 'content-type': 'application/json' },
        body: { method: 'POST', path: CHAT, headers, body: JSON.stringify(sent) },
      });
      expect(await counted()).toEqual(before);
      expect(explained.status).toBe(200);

      const answer = await ask(stack.url, {
        path: CHAT,
        headers: { 'content-type': 'application/json', ...headers },
        body: sent,
      });

      if (typeof told === 'number') {
        expect([answer.status, explained.json.refusal.status]).toEqual([told, told]);
        expect(explained.json.refusal.code).toBe(answer.headers['x-smg-error-code']);
        return;
      }
      const served = stack.sim.workers.find(({ name }) => name === answer.headers['x-sim-worker']);
      expect(answer.status).toBe(200);
      expect(explained.json).toMatchObject({ result: 'placed', worker_id: served?.url, branch: told });
    });

    it('the command reads the body from stdin', async () => {
      const output = await new Promise<string>((resolve, reject) => {
        const words = [PROGRAM, 'explain', '--body', '-', '--admin', stack.service.adminUrl];
        const child = execFile(process.execPath, words, (error, stdout) => (error ? reject(error) : resolve(stdout)));
        child.stdin?.end(JSON.stringify({ model: MODEL, rid: 'conv-1_t3', ...says('hello') }));
      });

      expect(output).toMatch(/^placed {2,}http:\/\//);
      expect(output).toMatch(/\nkey {2,}from rid, hash [0-9a-f]{12}, without its _t3; /);
      expect(output).toMatch(/\nWORKER {2,}PLACE {2,}ELIGIBLE {2,}IN FLIGHT/);
      expect(output).not.toContain('conv-1');
    });
  },
);
