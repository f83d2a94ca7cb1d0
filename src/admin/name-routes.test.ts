import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminBench, expectError } from '../../test/support/admin-bench.ts';
import { until } from '../../test/support/until.ts';

const NAME = 'dns+http://vllm:8000';
const WORKERS = ['http://10.0.0.1:8000', 'http://10.0.0.2:8000'];
const path = `/workers/${encodeURIComponent(NAME)}`;

let bench: AdminBench;
beforeEach(async () => {
  bench = await new AdminBench().open();
});
afterEach(() => bench.close());

describe('interface 6 a name that stands for several workers', () => {
  const ids = async () => {
    const { json } = await bench.ask('GET', '/workers');
    return json.workers.map(({ id }: { id: string }) => id);
  };

  it('is added, shown and removed as one, and so are its workers', async () => {
    const added = await bench.ask('POST', '/workers', { url: NAME, models: [{ id: 'm' }] });
    expect([added.status, added.json]).toEqual([
      202,
      { status: 'accepted', worker_id: NAME, url: NAME, location: path, message: 'Workers are being added' },
    ]);
    await until(async () => (await ids()).length === 2, 'its workers are there');
    expect(await ids()).toEqual(WORKERS);

    const shown = await bench.ask('GET', path);
    expect(shown.json).toMatchObject({
      id: NAME,
      status: 'pending',
      is_healthy: false,
      workers: WORKERS.map((id) => ({ id, source: 'dns', model_id: 'm' })),
    });
    bench.registry.assumeReady(bench.registry.instance(WORKERS[1]!)!);
    expect((await bench.ask('GET', path)).json).toMatchObject({ status: 'ready', is_healthy: true });

    const removed = await bench.ask('DELETE', path);
    expect([removed.status, removed.json.message]).toEqual([202, 'Workers are being removed']);
    expect(await ids()).toEqual([]);
    expectError(await bench.ask('GET', path), 404, 'worker_not_found', 'Not Found');
    expectError(await bench.ask('DELETE', path), 404, 'worker_not_found', 'Not Found');
  });

  it('is not added twice', async () => {
    await bench.ask('POST', '/workers', { url: NAME });
    expectError(await bench.ask('POST', '/workers', { url: NAME }), 409, 'worker_already_exists', 'Conflict');
  });

  it.each([
    ['PUT', path],
    ['PATCH', path],
    ['POST', `${path}/drain`],
    ['POST', `${path}/undrain`],
  ])('takes no change: %s %s', async (method, at) => {
    await bench.ask('POST', '/workers', { url: NAME });
    expectError(await bench.ask(method, at, { name: 'x' }), 400, 'bad_request', 'Bad Request');
  });

  it('is refused where it cannot be one', async () => {
    const answer = await bench.ask('POST', '/workers', { url: 'dns+https://vllm' });
    expectError(answer, 400, 'bad_request', 'Bad Request');
    expect(answer.text).toContain('dns+http');
  });
});

describe('readiness', () => {
  it('names the sources of workers, and takes no traffic away for one that cannot be read', async () => {
    bench.addReady('http://10.0.0.9:1');
    bench.registry.markSettled();
    bench.state = {
      ...bench.state,
      sources: [
        { name: 'kubernetes', health: 'stale', problem: 'the API server cannot be asked: ECONNREFUSED' },
        { name: 'dns', health: 'live', problem: null },
      ],
    };

    const answer = await bench.ask('GET', '/readiness');

    expect(answer.status).toBe(200);
    expect(answer.json.worker_sources).toEqual([
      { source: 'kubernetes', status: 'stale', problem: 'the API server cannot be asked: ECONNREFUSED' },
      { source: 'dns', status: 'live' },
    ]);
  });
});
