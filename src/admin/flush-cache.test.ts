import { afterEach, describe, expect, it } from 'vitest';
import { AdminBench, expectError } from '../../test/support/admin-bench.ts';
import { StubWorker } from '../../test/support/stub-worker.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

async function stub(): Promise<StubWorker> {
  const worker = await StubWorker.start();
  cleanUp.push(() => worker.dies());
  return worker;
}

async function bench(): Promise<AdminBench> {
  const admin = await new AdminBench().open();
  cleanUp.push(() => admin.close());
  return admin;
}

describe('smg-observed 8 POST /flush_cache', () => {
  it('asks every worker, ready or not, with its own key', async () => {
    const [admin, one, two] = [await bench(), await stub(), await stub()];
    const methods: (string | undefined)[] = [];
    two.health = (request, response) => {
      methods.push(request.method, request.headers['content-length']);
      response.writeHead(200).end('Cache flushed.');
    };
    admin.addReady(one.url);
    admin.addPending(two.url, { api_key: 'secret' });

    const answer = await admin.ask('POST', '/flush_cache');

    expect([answer.status, answer.json]).toEqual([
      200,
      {
        status: 'success',
        message: 'Successfully flushed cache on all 2 workers',
        workers_flushed: 2,
        total_http_workers: 2,
        total_grpc_workers: 0,
        total_zmq_workers_skipped: 0,
        total_workers: 2,
      },
    ]);
    expect([one.asked, two.asked]).toEqual([['/flush_cache'], ['/flush_cache']]);
    expect(methods).toEqual(['POST', '0']);
    expect(two.lastHeaders.authorization).toBe('Bearer secret');
  });

  it('is a partial success where a worker refuses or is down', async () => {
    const [admin, good, bad, down] = [await bench(), await stub(), await stub(), await stub()];
    bad.health = 404;
    for (const { url } of [good, bad, down]) admin.addReady(url);
    await down.dies();

    const answer = await admin.ask('POST', '/flush_cache');

    expect([answer.status, answer.json]).toEqual([
      206,
      {
        status: 'partial_success',
        message: 'Cache flush: 1 succeeded, 2 failed',
        workers_flushed: 1,
        total_http_workers: 3,
        total_grpc_workers: 0,
        total_zmq_workers_skipped: 0,
        total_workers: 3,
        successful: [good.url],
        failed: [
          { worker: bad.url, error: `flush_cache failed for worker ${bad.url}/flush_cache: HTTP 404` },
          { worker: down.url, error: `flush_cache failed for worker ${down.url}/flush_cache: ECONNREFUSED` },
        ],
      },
    ]);
    expect(admin.logged.join()).toContain('2 failed');
  });

  it('has nothing to do in an empty fleet', async () => {
    expect(await (await bench()).ask('POST', '/flush_cache')).toMatchObject({
      status: 200,
      json: { message: 'Successfully flushed cache on all 0 workers' },
    });
  });

  it('is a POST, and needs the role admin where there are keys', async () => {
    const admin = await bench();
    expectError(await admin.ask('GET', '/flush_cache'), 405, 'method_not_allowed', 'Method Not Allowed');

    await admin.open({ keys: [{ id: 'u', name: 'u', role: 'user', key: 'k' }] });
    const headers = { authorization: 'Bearer k' };
    expectError(await admin.ask('POST', '/flush_cache', undefined, headers), 403, 'forbidden', 'Forbidden');
  });
});

it('the ranks of one engine are flushed by one question', async () => {
  const engine = await stub();
  const admin = await new AdminBench({ dpAware: true }).open();
  cleanUp.push(() => admin.close());
  admin.addPending(engine.url);
  admin.registry.ranksAnswered(admin.registry.instance(engine.url)!, 3);

  const { json } = await admin.ask('POST', '/flush_cache');

  expect(json).toMatchObject({ status: 'success', workers_flushed: 3, total_workers: 3 });
  expect(engine.asked).toEqual(['/flush_cache']);
});
