import { describe, expect, it } from 'vitest';
import { TestFleet } from '../../test/support/fleet.ts';
import { type DriverOptions, makeRequest, type RequestParts, RouterDriver } from '../../test/support/routing.ts';
import type { Policy } from './policy.ts';
import { POLICY_FACTS } from './policy-facts.ts';

function drive(options: DriverOptions = {}): RouterDriver {
  return new RouterDriver(new TestFleet(['A', 'B', 'C']), options);
}

describe('--failback (sticky-sessions P20)', () => {
  /** Where a key goes when its worker A fails, and when A is back; and what is stored then. */
  function journey(options: DriverOptions) {
    const driver = drive({ policy: 'passthrough', ...options });
    const { pinKey } = driver.place({ key: 'k' });
    driver.fleet.set('down', 'A');
    const away = driver.place({ key: 'k' }).worker.id;
    driver.fleet.set('up', 'A');
    return [away, driver.place({ key: 'k' }).worker.id, driver.router.afterServed(pinKey!, ['A'], 'C')];
  }

  it.each([
    { failback: 'as-smg', options: {}, want: ['B', 'B', ['C', 'A']] },
    { failback: 'never', options: {}, want: ['B', 'B', ['C', 'A']] },
    { failback: 'always', options: {}, want: ['B', 'A', ['A', 'C']] },
    { failback: 'as-smg', options: { mode: 'min_load' }, want: ['B', 'A', ['A', 'C']] },
    { failback: 'never', options: { mode: 'min_load' }, want: ['B', 'B', ['C', 'A']] },
    { failback: 'always', options: { mode: 'min_load' }, want: ['B', 'A', ['A', 'C']] },
    { failback: 'as-smg', options: { policy: 'manual', mode: 'min_load' }, want: ['B', 'A', ['A', 'C']] },
    { failback: 'never', options: { policy: 'manual', mode: 'min_load' }, want: ['B', 'B', ['C', 'A']] },
    { failback: 'always', options: { policy: 'manual', mode: 'min_load' }, want: ['B', 'A', ['A', 'C']] },
  ] as const)('$failback with $options: $want', ({ failback, options, want }) => {
    expect(journey({ failback, ...options })).toEqual(want);
  });
});

describe('--learn-from-pins (sticky-sessions P11)', () => {
  function learning(options: DriverOptions = {}) {
    const learned: string[] = [];
    const policy: Policy = {
      name: 'cache_aware',
      facts: POLICY_FACTS.cache_aware,
      pick: ({ candidates }) => candidates[0] ?? null,
      next: () => null,
      memory: {
        learn: ({ request }, { id }) => learned.push(`${request.prompt.text ?? request.prompt.tokens?.join()} ${id}`),
        forget: () => {},
        tend: () => false,
        sizes: () => [],
      },
    };
    return { learned, driver: drive({ policy, learnFromPins: true, ...options }) };
  }

  it('teaches the policy what a pin placed, where the prompt is at hand', () => {
    const { learned, driver } = learning();
    driver.place({ key: 'k', prompt: { text: 'one' } });
    expect(learned).toEqual([]);

    driver.place({ key: 'k', prompt: { text: 'two' } });
    driver.place({ key: 'k', prompt: { tokens: Uint32Array.of(1, 2) } });
    driver.place({ key: 'k' });
    driver.place({ prompt: { text: 'three' } });

    expect(learned).toEqual(['two A', '1,2 A']);
  });

  it('does not even look at the prompt when it is off', () => {
    const { learned, driver } = learning({ learnFromPins: false });
    driver.place({ key: 'k' });
    const request = makeRequest({ key: 'k' });
    const prompt = {
      tokens: null,
      namespace: null,
      get text(): string {
        throw new Error('read');
      },
    };

    const outcome = driver.router.decide({ ...request, prompt }, driver.fleet.snapshot, 1, Math.random);

    expect(outcome.trail.stickyBranch).toBe('occupied_hit');
    expect(learned).toEqual([]);
  });
});

describe('smg-observed 2 manual since SMG 1.12', () => {
  const keys = { manualReadsList: true, headers: ['x-conv'] } as const;

  it.each([
    { headers: [['x-conv', 'c_t1']], pin: 'manual:s:c_t1' },
    { headers: [['x-conv', 'clé']], pin: 'manual:s:clé' },
    { headers: [['x-conv', 'k'.repeat(129)]], pin: null },
    { headers: [['x-smg-routing-key', 'c']], pin: 'manual:s:c' },
    { headers: [['x-smg-routing-key', 'k'.repeat(129)]], pin: null },
  ] satisfies { headers: RequestParts['headers']; pin: string | null }[])('$headers: $pin', ({ headers, pin }) => {
    expect(drive({ policy: 'manual', keys }).place({ headers }).pinKey).toBe(pin);
  });
});
