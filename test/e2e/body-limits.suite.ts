import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatBody, pieces, sha256 } from '../support/bodies.ts';
import { type Answer, ask, http2Client } from '../support/services.ts';
import { type Stack, startStack } from '../support/stack.ts';

const CHAT = '/v1/chat/completions';
const JSON_TYPE = { 'content-type': 'application/json' };

/**
 * Bodies over `--max-payload-size` and over `--envoy-body-limit` (decisions 12 and 14).
 *
 * @param envoyFlags further flags of `envoy-config`
 */
export function bodyLimits(flags: readonly string[], envoyFlags: readonly string[] = []): void {
  let stack: Stack;
  beforeAll(async () => {
    const limits = ['--max-payload-size', '150000', '--envoy-body-limit', '400000'];
    stack = await startStack({ sim: { digest: true }, flags: [...flags, ...limits], envoyFlags });
  });
  afterAll(() => stack?.close());

  const tooLarge = chatBody('large_t1', 150_001);

  it.each([
    ['a declared length over --max-payload-size', { body: tooLarge }],
    ['a chunked body over --max-payload-size that was seen whole', { body: pieces(tooLarge), headers: JSON_TYPE }],
  ])('%s is 413 in the envelope', async (_, out) => {
    const answer = await ask(stack.url, { path: CHAT, method: 'POST', ...out });
    expect(answer.status).toBe(413);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'x-smg-error-code': 'request_body_too_large',
    });
    expect(answer.headers['x-smg-routed-worker-id']).toBeUndefined();
    expect(answer.json.error).toMatchObject({ type: 'Payload Too Large', code: 'request_body_too_large', param: null });
  });

  it('exactly --max-payload-size passes', async () => {
    const body = chatBody('exact', 150_000);
    const answer = await ask(stack.url, { path: CHAT, body });
    expect([answer.status, answer.headers['x-sim-body-sha256']]).toEqual([200, sha256(body)]);
  });

  it.each(['HTTP/1.1', 'HTTP/2'])(
    'over --envoy-body-limit a rid in the prefix decides, one behind it does not, and the body arrives whole: %s',
    async (version) => {
      const sticky = async (rid: string, at: 'start' | 'end', key: string) => {
        const body = chatBody(rid, 2_000_000, at);
        const headers = { ...JSON_TYPE, 'x-smg-routing-key': key };
        const answer =
          version === 'HTTP/2'
            ? await ask2(stack.url, headers, body)
            : await ask(stack.url, { path: CHAT, body: pieces(body), headers, method: 'POST' });
        expect([answer.status, answer.headers['x-sim-body-sha256']]).toEqual([200, sha256(body)]);
        return answer.headers['x-smg-routed-worker-id'];
      };
      const before = await stack.service.metrics();
      const first = await sticky(`start-${version}_t1`, 'start', 'a');
      expect(await sticky(`start-${version}_t2`, 'start', 'b')).toBe(first);

      const keyed = await sticky(`end-${version}_t1`, 'end', `c-${version}`);
      expect(await sticky(`other-${version}_t1`, 'end', `c-${version}`)).toBe(keyed);
      const after = await stack.service.metrics();
      expect(after.sum('smg_envoy_partial_bodies_total') - before.sum('smg_envoy_partial_bodies_total')).toBe(4);
    },
  );
}

async function ask2(url: string, headers: Record<string, string>, body: Buffer): Promise<Answer> {
  const client = http2Client(url);
  const answer = await client.ask({ path: CHAT, body: pieces(body), headers, method: 'POST' });
  client.close();
  return answer;
}
