import { describe, expect, it } from 'vitest';
import { FAST, fleet, stub } from '../../test/support/probed-fleet.ts';
import { json } from '../../test/support/stub-worker.ts';

describe('policies 4.2: which engine a prefill or decode worker is', () => {
  it.each([true, false])('is asked before it is ready (probes: %s)', async (enabled) => {
    const stubbed = await stub();
    stubbed.pages = { '/version': json({ version: '0.11.0' }) };
    const { add, becomes, worker } = fleet({ health: { ...FAST, enabled } });
    const id = add(stubbed.url, { worker_type: 'decode' });

    await becomes(id, 'ready');

    expect(worker(id).legFacts).toMatchObject({ runtime: 'vllm', version: '0.11.0' });
  });

  it('is asked again when the worker comes back', async () => {
    const stubbed = await stub();
    stubbed.pages = { '/version': json({ version: '1' }) };
    const { add, becomes, worker } = fleet({ health: { ...FAST, failureThreshold: 1, successThreshold: 1 } });
    const id = add(stubbed.url, { worker_type: 'prefill' });
    await becomes(id, 'ready');
    const before = worker(id).legFacts;

    stubbed.health = 503;
    await becomes(id, 'not_ready');
    expect(worker(id).legFacts).toBe(before);
    stubbed.pages = { '/version': json({ version: '2' }) };
    stubbed.health = 200;
    await becomes(id, 'ready');

    expect(worker(id).legFacts?.version).toBe('2');
  });

  it('is no question to a regular worker', async () => {
    const stubbed = await stub();
    const { add, becomes, worker } = fleet({ health: FAST });
    const id = add(stubbed.url);

    await becomes(id, 'ready');

    expect(worker(id).legFacts).toBeNull();
    expect(stubbed.asked).not.toContain('/version');
  });
});
