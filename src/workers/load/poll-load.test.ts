import { describe, expect, it } from 'vitest';
import type { HttpResult } from '../http-request.ts';
import { LoadRoutes } from './load-routes.ts';
import { POLL_TIMEOUT_MS, pollLoad } from './poll-load.ts';

const absent: HttpResult = { kind: 'answer', status: 404, body: Buffer.alloc(0), complete: true };

/** One poll whose questions get these answers in turn, each of which takes its time in milliseconds. */
async function poll(...answers: readonly [HttpResult, number][]) {
  let now = 0;
  const asked: [string, number][] = [];
  const ask = async (path: string, timeoutMs: number): Promise<HttpResult> => {
    const [result, ms] = answers[asked.length] ?? [absent, 0];
    asked.push([path.split('?')[0] ?? '', timeoutMs]);
    now += ms;
    return result;
  };
  return { outcome: await pollLoad(new LoadRoutes(), 'm', ask, () => now), asked };
}

describe('policies 3.1 one poll', () => {
  it('has one time limit for all of its paths', async () => {
    const { outcome, asked } = await poll([absent, 2000], [absent, 1000], [absent, 0]);

    expect(asked).toEqual([
      ['/loads', POLL_TIMEOUT_MS],
      ['/v1/loads', POLL_TIMEOUT_MS - 2000],
      ['/metrics', POLL_TIMEOUT_MS - 3000],
    ]);
    expect(outcome).toEqual({ kind: 'no_report', reason: '/metrics: HTTP 404 without a load report' });
  });

  it('ends with a path that does not answer, as a failure of that path', async () => {
    const { outcome, asked } = await poll([absent, 0], [{ kind: 'timeout' }, POLL_TIMEOUT_MS]);

    expect(asked).toHaveLength(2);
    expect(outcome).toEqual({ kind: 'failed', reason: '/v1/loads?include=core,disagg,queues,memory: timeout' });
  });

  it('goes on after a connection that failed', async () => {
    const { outcome, asked } = await poll([{ kind: 'failed', reason: 'ECONNRESET' }, 0], [absent, 0], [absent, 0]);

    expect(asked).toHaveLength(3);
    expect(outcome.kind).toBe('no_report');
  });
});
