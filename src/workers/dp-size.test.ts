import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askDpSize } from './dp-size.ts';
import type { HttpResult } from './http-request.ts';

const answer = (status: number, text: string): HttpResult => ({
  kind: 'answer',
  status,
  body: Buffer.from(text),
  complete: true,
});
const ABSENT = answer(404, '{"detail":"Not Found"}');

function asking(...answers: HttpResult[]) {
  const asked: string[] = [];
  const ask = (path: string) => {
    asked.push(path);
    return Promise.resolve(answers[asked.length - 1] ?? ABSENT);
  };
  return { ask, asked };
}

describe('policies 2.4 the size of a data-parallel engine', () => {
  it.each<[string, HttpResult[], object, string[]]>([
    ['SGLang', [answer(200, '{"dp_size":8,"tp_size":1}')], { kind: 'size', size: 8 }, ['/server_info']],
    [
      'older SGLang',
      [ABSENT, answer(200, '{"dp_size":2}')],
      { kind: 'size', size: 2 },
      ['/server_info', '/get_server_info'],
    ],
    ['an engine without ranks', [answer(200, '{"dp_size":1}')], { kind: 'size', size: 1 }, ['/server_info']],
    ['an engine that tells none', [answer(200, '{"vllm_config":{}}')], { kind: 'none' }, ['/server_info']],
    ['dp_size null', [answer(200, '{"dp_size":null}')], { kind: 'none' }, ['/server_info']],
    ['vLLM', [ABSENT, ABSENT], { kind: 'none' }, ['/server_info', '/get_server_info']],
    [
      'other ways to have no route',
      [answer(405, ''), answer(501, '')],
      { kind: 'none' },
      ['/server_info', '/get_server_info'],
    ],
  ])('%s', async (_, answers, size, paths) => {
    const { ask, asked } = asking(...answers);

    expect(await askDpSize(ask)).toEqual(size);
    expect(asked).toEqual(paths);
  });

  it.each<[HttpResult, string]>([
    [{ kind: 'timeout' }, '/server_info: timeout'],
    [{ kind: 'failed', reason: 'ECONNREFUSED' }, '/server_info: ECONNREFUSED'],
    [answer(503, ''), '/server_info: HTTP 503'],
    [answer(401, ''), '/server_info: HTTP 401'],
    [answer(200, 'ok'), '/server_info: no JSON object'],
    [answer(200, 'null'), '/server_info: no JSON object'],
    [{ kind: 'answer', status: 200, body: Buffer.alloc(0), complete: false }, '/server_info: no JSON object'],
    [answer(200, '{"dp_size":0}'), 'dp_size is no number from 1 to 4096'],
    [answer(200, '{"dp_size":"8"}'), 'dp_size is no number'],
    [answer(200, '{"dp_size":1e9}'), 'dp_size is no number'],
  ])('is not known after %j', async (result, reason) => {
    const { ask, asked } = asking(result);

    expect(await askDpSize(ask)).toEqual({ kind: 'unknown', reason: expect.stringContaining(reason) });
    expect(asked).toEqual(['/server_info']);
  });

  it('is read from any answer without a throw', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 100, max: 599 }), fc.oneof(fc.string(), fc.json()), async (status, text) => {
        const size = await askDpSize(asking(answer(status, text), answer(status, text)).ask);
        if (size.kind === 'size') expect(size.size).toBeGreaterThanOrEqual(1);
      }),
    );
  });
});
