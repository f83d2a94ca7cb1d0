import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminBench } from '../../test/support/admin-bench.ts';
import { parseExposition } from '../../test/support/parse-exposition.ts';

const A = 'http://127.0.0.1:8000';

let bench: AdminBench;

beforeEach(async () => {
  bench = await new AdminBench().open();
});
afterEach(() => bench.close());

describe('interface 9 probes', () => {
  it('liveness and health are OK while the service runs', async () => {
    for (const path of ['/liveness', '/health']) {
      expect(await bench.ask('GET', path)).toMatchObject({ status: 200, text: 'OK' });
    }
  });

  it('health names the reason while the service drains, liveness stays', async () => {
    bench.state = { ...bench.state, draining: true };

    const health = await bench.ask('GET', '/health');

    expect([health.status, health.json]).toEqual([503, { status: 'not_ready', reason: 'draining' }]);
    expect((await bench.ask('GET', '/liveness')).status).toBe(200);
  });

  it.each([
    ['ready', 200, { status: 'ready', healthy_workers: 1, total_workers: 2 }],
    ['draining', 503, { status: 'not_ready', reason: 'draining', healthy_workers: 1, total_workers: 2 }],
    [
      'sources_not_read',
      503,
      { status: 'not_ready', reason: 'sources_not_read', healthy_workers: 1, total_workers: 2 },
    ],
    ['no_ready_worker', 503, { status: 'not_ready', reason: 'no_ready_worker', healthy_workers: 0, total_workers: 1 }],
  ])('readiness when %s', async (situation, status, body) => {
    if (situation !== 'sources_not_read') bench.registry.markSettled();
    if (situation !== 'no_ready_worker') bench.addReady(A);
    bench.addPending('http://127.0.0.1:8001');
    bench.state = { ...bench.state, draining: situation === 'draining' };

    const answer = await bench.ask('GET', '/readiness');

    expect([answer.status, answer.json]).toEqual([status, { ...body, end_of_request_source: 'access_log' }]);
  });

  it.each(['access_log', 'stream', 'age'] as const)(
    'decisions 7 readiness tells that ends come from %s',
    async (source) => {
      bench.state = { draining: false, sources: [], endOfRequest: source, pinStore: null };

      expect((await bench.ask('GET', '/readiness')).json.end_of_request_source).toBe(source);
    },
  );
});

describe('other routes', () => {
  it('GET /v1/models lists the models of ready workers as OpenAI does', async () => {
    bench.addReady(A, { models: [{ id: 'm' }, { id: 'n' }] });
    bench.addReady('http://127.0.0.1:8001', { models: [{ id: 'n' }] });

    expect((await bench.ask('GET', '/v1/models')).json).toEqual({
      object: 'list',
      data: ['m', 'n'].map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'smg-envoy' })),
    });
  });

  it('GET /config shows the effective settings', async () => {
    expect((await bench.ask('GET', '/config')).json).toEqual({ policy: 'round_robin', max_pins: 7 });
  });

  it('GET /metrics is text of both kinds that parses', async () => {
    bench.addReady(A);

    const answer = await bench.ask('GET', '/metrics');

    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const { samples } = parseExposition(answer.text);
    expect(samples).toContainEqual({ name: 'smg_worker_health', labels: { worker: A }, value: 1 });
    expect(samples.some(({ name }) => name === 'process_resident_memory_bytes')).toBe(true);
  });
  it('no answer may be stored or sniffed', async () => {
    for (const path of ['/workers', '/nowhere', '/health', '/']) {
      const { headers } = await bench.ask('GET', path);
      expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
    }
  });
});
