import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../test/support/ports.ts';
import { FAST, fleet, stub } from '../../test/support/probed-fleet.ts';
import { specOf } from '../../test/support/registry-bench.ts';
import { json, listing, type StubWorker } from '../../test/support/stub-worker.ts';
import { until } from '../../test/support/until.ts';
import type { LookUp } from './name-resolver.ts';

describe('decisions 17 and 37 start-up', () => {
  it('is ready after the success threshold, with every model it lists', async () => {
    const stubbed = await stub();
    stubbed.models = listing('a', 'b');
    const { registry, add, becomes, worker, statuses } = fleet({ health: { ...FAST, intervalSecs: 60 } });
    const id = add(stubbed.url);

    await becomes(id, 'ready');

    expect(worker(id)).toMatchObject({ models: ['a', 'b'], placeable: true });
    expect(stubbed.asked).toEqual(['/health', '/v1/models', '/health']);
    expect(statuses).toEqual(['pending', 'ready']);
    expect(registry.instance(id)?.lastProbe).toMatchObject({ ok: true, detail: 'HTTP 200' });
  });

  it.each([
    ['404', 404 as const],
    ['500', 500 as const],
    ['garbage', json({ data: 'x' })],
    ['an oversized list', listing('x'.repeat(1_048_577))],
  ])('serves any model when the answer is %s', async (_, models) => {
    const stubbed = await stub();
    stubbed.models = models;
    const { add, becomes, worker, registry } = fleet();
    const id = add(stubbed.url);

    await becomes(id, 'ready');

    expect(worker(id).models).toEqual([]);
    expect(registry.current.pool('whatever')?.available).toHaveLength(1);
  });

  it('waits for the model list, but not longer than 2 s', async () => {
    const stubbed = await stub();
    stubbed.models = 'hang';
    const { add, becomes, worker } = fleet();
    const started = performance.now();
    const id = add(stubbed.url);

    await until(() => stubbed.count('/v1/models') === 1, 'asked');
    expect(worker(id).status).toBe('pending');
    await becomes(id, 'ready');

    expect(performance.now() - started).toBeGreaterThan(1_900);
  });

  it('is not ready while the connection breaks when it is asked for models', async () => {
    const stubbed = await stub();
    stubbed.models = 'reset';
    const { add, becomes, worker, registry } = fleet();
    const id = add(stubbed.url);

    await until(() => stubbed.count('/v1/models') >= 3, 'asked again');
    expect(worker(id).status).toBe('pending');
    expect(registry.instance(id)?.lastProbe?.detail).toContain('models');
    stubbed.models = listing('m');
    await becomes(id, 'ready');

    expect(worker(id).models).toEqual(['m']);
  });

  it('does not ask a worker whose models are declared', async () => {
    const stubbed = await stub();
    const { add, becomes } = fleet();

    await becomes(add(stubbed.url, { models: [{ id: 'm' }] }), 'ready');

    expect(stubbed.count('/v1/models')).toBe(0);
  });

  it('keeps asking a worker that is not up yet, fast, without failing it before its time', async () => {
    const port = await freePort();
    const { add, becomes, registry } = fleet({ health: { ...FAST, intervalSecs: 60, failureThreshold: 1 } });
    const id = add(`http://127.0.0.1:${port}`);
    let probes = 0;
    let last: unknown = null;

    await until(() => {
      const report = registry.instance(id)?.lastProbe ?? null;
      if (report !== last) probes += 1;
      last = report;
      return probes > 11;
    }, 'more probes than would fail a worker');

    expect(registry.current.byId(id)?.status).toBe('pending');
    expect(registry.instance(id)?.lastProbe).toMatchObject({ ok: false, detail: 'ECONNREFUSED' });
    registry.remove(id);
    const stubbed = await stub();
    await becomes(add(stubbed.url), 'ready');
  });

  it('fails a worker that does not come up, and takes it in when it does at last', async () => {
    const stubbed = await stub();
    stubbed.health = 503;
    const { add, becomes, worker, statuses } = fleet({ health: { ...FAST, failureThreshold: 1 } });
    const id = add(stubbed.url);
    await becomes(id, 'failed');
    expect(stubbed.asked.length).toBeGreaterThanOrEqual(10);

    stubbed.models = listing('late');
    stubbed.health = 200;
    await becomes(id, 'ready');

    expect(worker(id).models).toEqual(['late']);
    expect(statuses).toEqual(['pending', 'failed', 'ready']);
  });
});

describe('policies 2.1 probing', () => {
  it('takes a dead worker out and a returning one in, with the models it has then', async () => {
    const stubbed = await stub();
    stubbed.models = listing('old');
    const { add, becomes, worker, statuses } = fleet({ health: { ...FAST, failureThreshold: 30 } });
    const id = add(stubbed.url);
    await becomes(id, 'ready');

    await stubbed.dies();
    await becomes(id, 'not_ready');
    stubbed.models = listing('new');
    await stubbed.returns();
    await becomes(id, 'ready');

    expect(worker(id).models).toEqual(['new']);
    expect(statuses).toEqual(['pending', 'ready', 'not_ready', 'ready']);
  });

  it('fails a worker that stays away, and removes it only when told to', async () => {
    const stubbed = await stub();
    const { registry, add, becomes, statuses } = fleet({
      health: { ...FAST, failureThreshold: 2 },
      removeFailed: true,
    });
    const id = add(stubbed.url);
    await becomes(id, 'ready');

    await stubbed.dies();
    await until(() => registry.current.byId(id) === undefined, 'removed');

    expect(statuses).toEqual(['pending', 'ready', 'not_ready', 'gone']);
  });

  it.each([204, 299])('takes %i for healthy', async (status) => {
    const stubbed = await stub();
    stubbed.health = status;
    const { add, becomes } = fleet();

    await becomes(add(stubbed.url), 'ready');
  });

  it.each<[string, StubWorker['health']]>([
    ['302', (_, response) => response.writeHead(302, { location: '/v1/models' }).end()],
    ['404', 404],
    ['500', 500],
    ['a reset', 'reset'],
    ['silence', 'hang'],
  ])('takes %s for sick', async (_, health) => {
    const stubbed = await stub();
    const { add, becomes } = fleet({ health: { ...FAST, failureThreshold: 1 } });
    const id = add(stubbed.url);
    await becomes(id, 'ready');

    stubbed.health = health;

    await becomes(id, 'not_ready');
  });

  it('probes as the worker’s own settings say, with its key', async () => {
    const stubbed = await stub();
    const { add, becomes } = fleet();

    await becomes(
      add(stubbed.url, { api_key: 'sk-1', health: { endpoint: '/healthz', success_threshold: 1 } }),
      'ready',
    );

    expect(stubbed.asked.slice(0, 2)).toEqual(['/healthz', '/v1/models']);
    expect(stubbed.lastHeaders).toMatchObject({
      authorization: 'Bearer sk-1',
      host: stubbed.url.slice('http://'.length),
    });
  });

  it('sends no authorization without a key', async () => {
    const stubbed = await stub();
    const { add, becomes } = fleet();

    await becomes(add(stubbed.url), 'ready');

    expect(stubbed.lastHeaders.authorization).toBeUndefined();
  });

  it('goes on while a worker drains, and stops when it is gone', async () => {
    const stubbed = await stub();
    const { registry, add, becomes, worker } = fleet();
    const id = add(stubbed.url);
    await becomes(id, 'ready');

    registry.drain(id);
    await stubbed.dies();
    await until(() => !worker(id).keepsPins, 'pins dropped');
    await stubbed.returns();
    await until(() => worker(id).keepsPins, 'pins kept');
    registry.remove(id);
    const probes = stubbed.asked.length;
    await until(() => stubbed.connections === 0, 'no connection left');

    expect(stubbed.asked.length - probes).toBeLessThanOrEqual(1);
  });

  it('follows a change of the declaration', async () => {
    const stubbed = await stub();
    const { registry, add, becomes, worker } = fleet();
    const id = add(stubbed.url, { models: [{ id: 'declared' }] });
    await becomes(id, 'ready');

    stubbed.models = listing('asked');
    registry.update(specOf(stubbed.url, { health: { endpoint: '/other' } }));
    await until(() => worker(id).models[0] === 'asked', 'asked for models');

    expect(stubbed.asked).toContain('/other');
  });

  it('leaves no connection and no timer behind', async () => {
    const stubbed = await stub();
    const { checker, add } = fleet();
    stubbed.health = 'hang';
    add(stubbed.url);
    await until(() => stubbed.connections === 1, 'probing');

    checker.close();
    await until(() => stubbed.connections === 0, 'closed');

    expect(stubbed.asked).toHaveLength(1);
  });

  it('runs at most 128 probes at once', async () => {
    const stubbed = await stub();
    const held: ServerResponse[] = [];
    const asked = new Set<string | undefined>();
    let most = 0;
    stubbed.health = (request, response) => {
      asked.add(request.headers.host);
      most = Math.max(most, held.push(response));
    };
    const { registry } = fleet({
      health: { ...FAST, timeoutSecs: 60 },
      dns: { lookUp: async () => ['127.0.0.1'] },
    });
    const specs = Array.from({ length: 200 }, (_, index) => specOf(`http://w${index}:${stubbed.port}`));
    const answer = () => {
      for (const response of held.splice(0)) response.end('{}');
    };

    registry.replaceSource('flags', specs);
    await until(() => held.length === 128, 'all places taken');
    answer();
    await until(() => {
      answer();
      return asked.size === 200;
    }, 'the others had their turn');
    expect(most).toBe(128);
  });
});

describe('--disable-health-check', () => {
  const off = { ...FAST, enabled: false };

  it('is ready after the question for models, and never probed', async () => {
    const stubbed = await stub();
    stubbed.health = 500;
    stubbed.models = listing('m');
    const { add, becomes, worker } = fleet({ health: off });
    const id = add(stubbed.url);

    await becomes(id, 'ready');

    expect(worker(id).models).toEqual(['m']);
    expect(stubbed.asked).toEqual(['/v1/models']);
  });

  it('asks a worker that is not up again, for 2 s, then takes it for ready', async () => {
    const id = `http://127.0.0.1:${await freePort()}`;
    const { add, becomes, worker } = fleet({ health: off });
    add(id);

    await becomes(id, 'ready');

    expect(worker(id)).toMatchObject({ models: [], placeable: true });
  });

  it('can be had for one worker', async () => {
    const stubbed = await stub();
    const { add, becomes } = fleet();

    await becomes(add(stubbed.url, { health: { disable_health_check: true }, models: [{ id: 'm' }] }), 'ready');

    expect(stubbed.asked).toEqual([]);
  });
});

describe('names and IPv6', () => {
  it('reaches ::1', async () => {
    const stubbed = await stub('::1');
    const { add, becomes, worker } = fleet();
    const id = add(stubbed.url);

    await becomes(id, 'ready');

    expect(worker(id).address).toBe(`[::1]:${stubbed.port}`);
  });

  it('reaches localhost', async () => {
    const stubbed = await stub();
    const { add, becomes, worker } = fleet();
    const id = add(`http://localhost:${stubbed.port}`);

    await becomes(id, 'ready');

    expect(worker(id).address).toBe(`127.0.0.1:${stubbed.port}`);
    expect(stubbed.lastHeaders.host).toBe(`localhost:${stubbed.port}`);
  });

  it('tries the next address of a name while the worker does not answer', async () => {
    const stubbed = await stub();
    const { add, becomes, worker } = fleet({ dns: { lookUp: async () => ['127.0.0.9', '127.0.0.1'] } });
    const id = add(`http://w:${stubbed.port}`);

    await becomes(id, 'ready');

    expect(worker(id).address).toBe(`127.0.0.1:${stubbed.port}`);
  });

  it('follows a name to its new address, and knows none while it does not resolve', async () => {
    const stubbed = await stub();
    let lookUp: LookUp = async () => {
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    };
    const { registry, add, becomes, worker } = fleet({ dns: { intervalMs: 20, lookUp: (name) => lookUp(name) } });
    const id = add(`http://w:${stubbed.port}`);

    await until(() => registry.instance(id)?.lastProbe?.detail === 'w does not resolve', 'probe without an address');
    expect(worker(id)).toMatchObject({ status: 'pending', address: '' });
    lookUp = async () => ['127.0.0.1'];
    await becomes(id, 'ready');
    expect(worker(id)).toMatchObject({ address: `127.0.0.1:${stubbed.port}`, placeable: true });

    lookUp = async () => ['127.0.0.9'];
    await until(() => worker(id).address === `127.0.0.9:${stubbed.port}`, 'new address');
    lookUp = async () => [];
    await until(() => worker(id).address === '' && !worker(id).placeable, 'no address');
  });
});
