import { describe, expect, it } from 'vitest';
import { TestFleet } from '../../../test/support/fleet.ts';
import { chat, driver, place, times, worker } from '../../../test/support/pair-routing.ts';
import { RouterDriver } from '../../../test/support/routing.ts';
import type { Outcome } from '../decision.ts';

describe('sticky-sessions 7.2: refusals name the leg', () => {
  const cases: [
    what: string,
    fleet: string,
    down: string[],
    expected: Partial<Outcome> & { detail?: string | null },
  ][] = [
    [
      'no workers at all',
      'r1',
      [],
      {
        leg: 'prefill',
        detail: 'No prefill workers available. Please check if prefill servers are configured and healthy.',
      },
    ],
    [
      'no decode workers',
      'p1',
      [],
      {
        leg: 'decode',
        detail: 'No decode workers available. Please check if decode servers are configured and healthy.',
      },
    ],
    [
      'prefill workers are out',
      'p1 d1',
      ['p1'],
      { leg: 'prefill', detail: 'No available prefill workers (all circuits open or unhealthy)' },
    ],
    [
      'decode workers are out',
      'p1 d1',
      ['d1'],
      { leg: 'decode', detail: 'No available decode workers (all circuits open or unhealthy)' },
    ],
    [
      'the only prefill worker that fits is out',
      'p1:sglang p2:vllm d1:vllm',
      ['p2'],
      { leg: 'prefill', detail: 'No available prefill workers (all circuits open or unhealthy)' },
    ],
  ];

  it.each(cases)('%s', (_, workers, down, expected) => {
    for (const parts of [chat(), chat({ rid: 'a' })]) {
      const fleet = driver(workers);
      fleet.fleet.set('down', ...down);
      expect(fleet.route(parts)).toMatchObject({ kind: 'refused', reason: 'no_available_workers', ...expected });
    }
  });

  it('a model that nobody knows is no 404 here, and its name is kept nowhere', () => {
    const fleet = new TestFleet([worker('p1', { models: ['m'] }), worker('d1', { models: ['m'] })], true);
    const outcome = new RouterDriver(fleet, { pair: {} }).route(chat({ model: 'nope' }));
    expect(outcome).toMatchObject({ reason: 'no_available_workers', leg: 'prefill', model: 'unknown' });
  });

  it('no two that fit', () => {
    expect(driver('p1:sglang p2:sglang d1:vllm').route(chat())).toMatchObject({
      reason: 'no_compatible_pd_pair',
      detail: 'mismatch on ["runtime"]; prefill: ["sglang/?/?"], decode: ["vllm/?/?"]',
    });
  });

  it('policies 4.2: what differs is told in the order of the alphabet', () => {
    expect(driver('p1:vllm p2:sglang d1:generic').route(chat())).toMatchObject({
      detail: 'mismatch on ["runtime"]; prefill: ["sglang/?/?", "vllm/?/?"], decode: ["generic/?/?"]',
    });
  });

  it('decisions 27: engines that want the prefill first do not take a mirrored one', () => {
    const pair = { mirrored: true, mode: 'off' } as const;
    expect(driver('p1:vllm d1:vllm', { pair }).route(chat())).toMatchObject({
      reason: 'no_compatible_pd_pair',
      detail: 'mismatch on ["--pd-dispatch mirror"]; prefill: ["vllm/?/?"], decode: ["vllm/?/?"]',
    });
    const mixed = driver('p1:vllm p2:sglang d1:vllm d2:sglang', { pair });
    expect(times(3, () => place(mixed))).toEqual(['p2/d2', 'p2/d2', 'p2/d2']);
  });

  it.each([
    ['prefill', ['p1', 'p2'], 'prefill'],
    ['decode', ['d1', 'd2'], 'decode'],
  ])('policies 2.2: all %s workers overloaded are a shed', (_, overloaded, leg) => {
    const busy = (id: string) => ({ overloaded: overloaded.includes(id), placeable: !overloaded.includes(id) });
    const fleet = new TestFleet(
      ['p1', 'p2', 'd1', 'd2'].map((id) => worker(id, { ...busy(id), keepsPins: busy(id).placeable })),
      true,
    );
    for (const parts of [chat(), chat({ rid: 'a' })]) {
      const outcome = new RouterDriver(fleet, { pair: {}, keys: { override: true } }).route(parts);
      expect(outcome).toMatchObject({ reason: 'worker_overload_protection_shed', leg });
      const past = new RouterDriver(fleet, { pair: {}, keys: { override: true }, shed: false }).place(parts);
      expect([past.prefill?.trail.pastVeto, past.trail.pastVeto]).toEqual([leg === 'prefill', leg === 'decode']);
    }
  });

  it.each([
    ['prefill, and decode overloaded', true, true, 'worker_overload_protection_shed'],
    ['prefill, and decode out', true, false, 'worker_overload_protection_shed'],
    ['decode, and prefill out', false, true, 'no_available_workers'],
  ])('policies 2.2: prefill workers come first: all overloaded of %s', (_, prefill, decode, reason) => {
    const out = (overloaded: boolean) => ({ overloaded, placeable: false, keepsPins: false });
    const fleet = new TestFleet(
      [worker('p1', out(prefill)), worker('d1', out(decode)), worker('d2', out(false))],
      true,
    );
    expect(new RouterDriver(fleet, { pair: {} }).route(chat())).toMatchObject({ reason, leg: 'prefill' });
  });
});
