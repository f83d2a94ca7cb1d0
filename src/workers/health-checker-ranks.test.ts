import { describe, expect, it } from 'vitest';
import { FAST, fleet, stub } from '../../test/support/probed-fleet.ts';
import { json, listing } from '../../test/support/stub-worker.ts';
import { until } from '../../test/support/until.ts';

describe('policies 2.4 data-parallel ranks', () => {
  const WITH_RANKS = { dpAware: true };

  it('asks the engine before it is ready, and probes each rank at the base URL', async () => {
    const stubbed = await stub();
    stubbed.pages = { '/server_info': json({ dp_size: 2 }) };
    stubbed.models = listing('m');
    const { add, becomes, worker } = fleet({ ...WITH_RANKS, health: { ...FAST, intervalSecs: 60 } });
    const id = add(stubbed.url);

    await becomes(`${id}@0`, 'ready');
    await becomes(`${id}@1`, 'ready');

    expect(worker(id)).toBeUndefined();
    expect(worker(`${id}@1`)).toMatchObject({ models: ['m'], address: id.slice(7), placeable: true, dpSize: 2 });
    expect(stubbed.asked.slice(0, 2)).toEqual(['/health', '/server_info']);
    expect(stubbed.count('/server_info')).toBe(1);
    expect(stubbed.count('/health')).toBe(5);
    expect(stubbed.lastHeaders.host).toBe(id.slice(7));
  });

  it('an engine that tells none, by either name of the route, is one worker', async () => {
    const stubbed = await stub();
    stubbed.pages = { '/server_info': 404, '/get_server_info': 404 };
    const { add, becomes } = fleet(WITH_RANKS);
    const id = add(stubbed.url);

    await becomes(id, 'ready');

    expect(stubbed.asked.slice(0, 3)).toEqual(['/health', '/server_info', '/get_server_info']);
  });

  it.each([true, false])(
    'stays pending, with the reason to be seen, until it is known (probes: %s)',
    async (enabled) => {
      const stubbed = await stub();
      stubbed.pages = { '/server_info': 503 };
      const { registry, add, becomes, worker } = fleet({ ...WITH_RANKS, health: { ...FAST, enabled } });
      const id = add(stubbed.url);

      await until(() => stubbed.count('/server_info') > 2, 'asked again');
      expect(worker(id)).toMatchObject({ status: 'pending', placeable: false });
      expect(registry.instance(id)?.lastProbe).toMatchObject({
        ok: false,
        detail: 'its data-parallel ranks are not known: /server_info: HTTP 503',
      });

      stubbed.pages = { '/server_info': json({ dp_size: 2 }) };
      await becomes(`${id}@1`, 'ready');
    },
  );

  it('asks again when the engine comes back, as it may have other ranks', async () => {
    const stubbed = await stub();
    stubbed.pages = { '/server_info': json({ dp_size: 2 }) };
    const { registry, add, becomes } = fleet(WITH_RANKS);
    const id = add(stubbed.url);
    await becomes(`${id}@1`, 'ready');

    await stubbed.dies();
    await becomes(`${id}@1`, 'not_ready');
    stubbed.pages = { '/server_info': json({ dp_size: 3 }) };
    await stubbed.returns();

    await becomes(`${id}@2`, 'ready');
    await becomes(`${id}@0`, 'ready');
    expect(registry.current.workers).toHaveLength(3);
  });
});
