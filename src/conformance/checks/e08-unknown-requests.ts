import { gzipSync } from 'node:zlib';
import type { Check } from '../check.ts';
import { FULL_DUPLEX, type Header, modeOf, type Plan } from '../plan.ts';
import { whole } from '../requests.ts';

/** E8: what a picker does not understand, it places all the same. */
export const unknownRequests: Check = {
  id: 'E8',
  title: 'Unknown paths, methods, content types and bodies are placed, never an error',
  source: 'llm-d/llm-d-router#2807',
  async run({ requests, playAll, places }, findings) {
    const chat = requests.chat();
    const post = (path: string, type: string | null, body: Buffer, more: readonly Header[] = []) => ({
      headers: requests.headers('POST', path, [
        ...(type === null ? [] : [['content-type', type] as const]),
        ['content-length', String(body.length)],
        ...more,
      ]),
      body: whole(body),
    });
    const without = (method: string, path: string) => ({ headers: requests.headers(method, path), body: null });
    /** `refusable`: a malformed request on an endpoint of the picker, which it may refuse as the client's fault. */
    const cases: readonly (readonly [string, Pick<Plan, 'headers' | 'body'>, 'refusable'?])[] = [
      ['unknown path, POST', post('/no/such/path', 'application/json', Buffer.from('{"a":1}'))],
      ['unknown path, DELETE', without('DELETE', '/v1/responses/resp_1')],
      ['OPTIONS', without('OPTIONS', '/v1/chat/completions')],
      ['HEAD of /', without('HEAD', '/')],
      ['unknown method', without('PROPFIND', '/v1/models')],
      ['path with a query and escapes', post(`${requests.path}?a=%00%ff&b=`, 'application/json', chat)],
      ['no content type', post(requests.path, null, chat)],
      ['unknown content type', post(requests.path, 'application/x-unknown', Buffer.from([0, 255, 1, 254]))],
      ['multipart form', post('/v1/audio/transcriptions', 'multipart/form-data; boundary=b', Buffer.from('--b--\r\n'))],
      ['gzip body', post(requests.path, 'application/json', gzipSync(chat), [['content-encoding', 'gzip']])],
      ['header of 16 KiB', post(requests.path, 'application/json', chat, [['x-large', 'v'.repeat(16_384)]])],
      ['header with bytes above 127', post(requests.path, 'application/json', chat, [['x-text', '\u00e9\u00ff']])],
      ['POST with an empty body', post(requests.path, 'application/json', Buffer.alloc(0)), 'refusable'],
      ['malformed JSON', post(requests.path, 'application/json', Buffer.from('{"model":')), 'refusable'],
      ['JSON that is no object', post(requests.path, 'application/json', Buffer.from('[1,2]')), 'refusable'],
      ['JSON 2,000 levels deep', post(requests.path, 'application/json', deep(2_000)), 'refusable'],
    ];
    for (const [name, mode] of [
      ['full duplex', FULL_DUPLEX],
      ['BUFFERED', modeOf('buffered')],
      ['NONE', modeOf('none')],
    ] as const) {
      if (!(await places(mode.request))) {
        findings.unjudged(`unknown requests, ${name}`, 'no request is placed in this mode (P6)');
        continue;
      }
      const plans = cases.map(([title, changes]) => requests.plan(`${name}, ${title}`, { ...changes, mode }));
      const outcomes = await playAll(plans);
      for (const [index, outcome] of outcomes.entries()) {
        const refusable = cases[index]?.[2] === 'refusable';
        const status = outcome.refusal?.status ?? 0;
        const refused = refusable && status >= 400 && status < 500 && outcome.end?.code === 0;
        const expected = refusable ? 'a pick, or an immediate response 4xx' : 'a pick';
        findings.expect(outcome.first !== null || refused, outcome.title, expected, outcome.summary);
      }
    }
  },
};

function deep(levels: number): Buffer {
  return Buffer.from(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
}
