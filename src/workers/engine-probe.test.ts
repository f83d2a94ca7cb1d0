import { describe, expect, it } from 'vitest';
import { askEngine } from './engine-probe.ts';
import type { HttpResult } from './http-request.ts';

const answer = (status: number, body: unknown): HttpResult => ({
  kind: 'answer',
  status,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  complete: true,
});

/** An engine by its answers; every other path is 404. Notes what it was asked. */
function engine(routes: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const ask = (path: string): Promise<HttpResult> => {
    asked.push(path);
    return Promise.resolve(path in routes ? answer(200, routes[path]) : answer(404, {}));
  };
  return { asked, ask };
}
const models = (owner?: string) => ({ data: [owner === undefined ? { id: 'm' } : { id: 'm', owned_by: owner }] });
const INFO = { model_path: 'm', version: '0.5.0' };

describe('the engine of a worker, as the real SMG 1.11.0 recognises it', () => {
  it.each<[what: string, routes: Record<string, unknown>, runtime: string, version: string | null]>([
    ['owner vllm', { '/v1/models': models('vllm'), '/version': { version: '0.11.0' } }, 'vllm', '0.11.0'],
    ['owner vllm, with server info', { '/v1/models': models('vllm'), '/server_info': INFO }, 'vllm', null],
    ['owner sglang', { '/v1/models': models('sglang'), '/server_info': INFO }, 'sglang', '0.5.0'],
    ['owner sglang, nothing else', { '/v1/models': models('sglang') }, 'sglang', null],
    ['another owner, nothing else', { '/v1/models': models('x') }, 'generic', null],
    ['another owner, version', { '/v1/models': models('x'), '/version': { version: '1' } }, 'vllm', '1'],
    ['another owner, server info', { '/v1/models': models('x'), '/server_info': INFO }, 'sglang', '0.5.0'],
    ['another owner, older server info', { '/v1/models': models('x'), '/get_server_info': INFO }, 'sglang', '0.5.0'],
    ['owner in capitals', { '/v1/models': models('VLLM') }, 'generic', null],
    ['no owner, version', { '/v1/models': models(), '/version': { version: '1' } }, 'vllm', '1'],
    ['no models, version', { '/version': { version: '1' } }, 'vllm', '1'],
    ['no JSON anywhere', { '/v1/models': 'x', '/version': '"1"', '/server_info': '[' }, 'generic', null],
  ])('%s', async (_, routes, runtime, version) => {
    expect(await askEngine(engine(routes).ask, null)).toEqual({ runtime, version });
  });

  it.each([
    ['vllm', ['/version']],
    ['sglang', ['/server_info', '/get_server_info']],
    ['trtllm', []],
  ])('a declared %s is asked for its version at most', async (declared, asked) => {
    const silent = engine({});
    expect(await askEngine(silent.ask, declared)).toEqual({ runtime: declared, version: null });
    expect(silent.asked).toEqual(asked);
  });

  it.each(['/v1/models', '/version', '/server_info'])('is not known when %s cannot be asked', async (lost) => {
    const { ask } = engine({ '/v1/models': models('x') });
    const failing = (path: string) =>
      path === lost ? Promise.resolve<HttpResult>({ kind: 'failed', reason: 'gone' }) : ask(path);
    expect(await askEngine(failing, null)).toBeNull();
  });
});
