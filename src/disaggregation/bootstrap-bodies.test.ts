import { describe, expect, it } from 'vitest';
import type { EndpointKind } from '../request/endpoint.ts';
import { scanObject } from '../request/json-scanner.ts';
import { bootstrapBodies } from './bootstrap-bodies.ts';
import { MEMBERS } from './members.ts';

const FIELDS = { host: 'p.local', port: 9000, model: null, prefillRank: null, decodeRank: null };
/** Above 2^53: as a JavaScript number it would come out as another room. */
const ROOM = '9007199254740993';

function bodies(endpoint: EndpointKind, body: object, fields: Partial<typeof FIELDS> | object = {}) {
  const scan = scanObject(Buffer.from(JSON.stringify(body)), MEMBERS);
  const made = bootstrapBodies(scan, endpoint, { ...FIELDS, ...fields }, () => ROOM);
  return { prefill: made.prefill.toString(), decode: made.decode.toString() };
}

const single = `{"bootstrap_host":"p.local","bootstrap_port":9000,"bootstrap_room":${ROOM}`;
const batch = (n: number): string => {
  const list = (json: string) => `[${Array.from({ length: n }, () => json).join(',')}]`;
  return `{"bootstrap_host":${list('"p.local"')},"bootstrap_port":${list('9000')},"bootstrap_room":${list(ROOM)}`;
};

describe('policies 4.3 bootstrap fields', () => {
  it.each<[string, EndpointKind, object, string]>([
    ['chat', 'chat', { messages: [] }, single],
    ['chat with n 1', 'chat', { n: 1 }, single],
    ['chat with n 3', 'chat', { n: 3 }, batch(3)],
    ['chat with a senseless n', 'chat', { n: 2.5 }, single],
    ['chat with an n that no engine serves', 'chat', { n: 1e9 }, single],
    ['generate with a text', 'generate', { text: 'a' }, single],
    ['generate with ids', 'generate', { input_ids: [1, 2, 3] }, single],
    ['generate with a batch of ids', 'generate', { input_ids: [[1, 2], [3]] }, batch(2)],
    ['completions with a text', 'completions', { prompt: 'a' }, single],
    ['completions with texts', 'completions', { prompt: ['a', 'b,"c"'] }, batch(2)],
    ['completions with one text in a list', 'completions', { prompt: ['a'] }, batch(1)],
    ['completions with ids', 'completions', { prompt: [1, 2] }, single],
    ['completions with lists of ids', 'completions', { prompt: [[1], [2], [3]] }, batch(3)],
    ['completions with nothing', 'completions', { prompt: [] }, single],
    ['messages', 'messages', { n: 3 }, single],
  ])('%s', (_, endpoint, body, front) => {
    const rest = JSON.stringify(body).slice(1);
    const made = bodies(endpoint, body);
    expect(made.prefill).toBe(`${front},${rest}`);
    expect(made.decode).toBe(made.prefill);
  });

  it('a prefill worker without a port', () => {
    expect(bodies('chat', { a: 1 }, { port: null }).prefill).toContain('"bootstrap_port":null,');
  });

  it('replaces what the client wrote', () => {
    const made = JSON.parse(bodies('chat', { bootstrap_room: 1, bootstrap_host: 'evil' }).decode);
    expect(made).toMatchObject({ bootstrap_host: 'p.local', bootstrap_port: 9000 });
  });

  it('tells model and ranks', () => {
    const made = bodies('chat', { model: 'alias' }, { model: 'canonical', prefillRank: 1, decodeRank: 2 });
    expect(JSON.parse(made.prefill)).toMatchObject({ model: 'canonical', routed_dp_rank: 1 });
    expect(made.prefill).not.toContain('disagg_prefill_dp_rank');
    expect(JSON.parse(made.decode)).toMatchObject({
      model: 'canonical',
      routed_dp_rank: 2,
      disagg_prefill_dp_rank: 1,
    });
  });
});
