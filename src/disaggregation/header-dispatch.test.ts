import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { prefillOrder } from '../../test/support/prefill-order.ts';
import type { PrefillOrder } from '../picker/prefill-dispatch.ts';
import { HeaderDispatch } from './header-dispatch.ts';

describe('decisions 27 dispatch by a sidecar', () => {
  it.each<[string, Partial<PrefillOrder>, string | null]>([
    ['the client’s own body goes on', {}, null],
    ['with the canonical model', { model: 'canonical' }, '{"model":"canonical"}'],
    ['with the rank', { decode: makeWorker('http://d@1', { rank: 1 }) }, '{"data_parallel_rank":1,"model":"alias"}'],
    ['unless it cannot be replaced', { model: 'canonical', mostBodyBytes: 0 }, null],
    ['unless it would grow too large', { model: 'canonical', mostBodyBytes: 20 }, null],
    ['unless it was not read whole', { model: 'canonical', body: null }, null],
  ])('%s', (_, parts, body) => {
    const handoff = new HeaderDispatch().start(prefillOrder(parts));
    expect(handoff).toMatchObject({ kind: 'handoff', leftTo: 'sidecar' });
    expect(handoff.body?.toString() ?? null).toBe(body);
  });
});
