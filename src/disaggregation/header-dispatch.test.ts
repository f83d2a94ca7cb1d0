import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { headOf } from '../../test/support/head.ts';
import type { PrefillOrder } from '../picker/prefill-dispatch.ts';
import { BODY_MEMBERS } from '../request/body-members.ts';
import { scanObject } from '../request/json-scanner.ts';
import { HeaderDispatch } from './header-dispatch.ts';

const order = (parts: Partial<PrefillOrder>): PrefillOrder => ({
  head: headOf(),
  endpoint: 'chat',
  body: scanObject(Buffer.from('{"model":"alias"}'), BODY_MEMBERS),
  mostBodyBytes: 1000,
  model: null,
  modelLabel: 'm',
  requestId: '',
  prefill: makeWorker('http://p'),
  decode: makeWorker('http://d'),
  ...parts,
});

describe('decisions 27 dispatch by a sidecar', () => {
  it.each<[string, Partial<PrefillOrder>, string | null]>([
    ['the client’s own body goes on', {}, null],
    ['with the canonical model', { model: 'canonical' }, '{"model":"canonical"}'],
    ['with the rank', { decode: makeWorker('http://d@1', { rank: 1 }) }, '{"data_parallel_rank":1,"model":"alias"}'],
    ['unless it cannot be replaced', { model: 'canonical', mostBodyBytes: 0 }, null],
    ['unless it would grow too large', { model: 'canonical', mostBodyBytes: 20 }, null],
    ['unless it was not read whole', { model: 'canonical', body: null }, null],
  ])('%s', (_, parts, body) => {
    const handoff = new HeaderDispatch().start(order(parts));
    expect(handoff).toMatchObject({ kind: 'handoff', leftTo: 'sidecar' });
    expect(handoff.body?.toString() ?? null).toBe(body);
  });
});
