import { describe, expect, it } from 'vitest';
import { makeSnapshot, makeWorker, TestFleet } from '../../test/support/fleet.ts';
import { type DriverOptions, makeRequest, type RequestParts, RouterDriver } from '../../test/support/routing.ts';
import type { Policy } from './policy.ts';

const one = makeSnapshot([makeWorker('a', { models: ['m'] }), makeWorker('b', { models: ['m'] })]);
const several = makeSnapshot([makeWorker('a', { models: ['m'] }), makeWorker('b', { models: ['n'] })]);

/** Stands for a policy that reads the prompt. */
const promptPolicy: Policy = {
  name: 'cache_aware',
  needsPrompt: true,
  needsLoads: false,
  memory: null,
  pick: ({ candidates }) => candidates[0] ?? null,
  next: () => null,
};

function need(options: DriverOptions, parts: RequestParts = {}, snapshot = one, ridReadable = true) {
  return new RouterDriver(new TestFleet([]), options).router.bodyNeed(makeRequest(parts).head, snapshot, ridReadable);
}

const OFF = { override: false };
const tokens = (value: string) => ({ headers: [['x-smg-routing-tokens', value]] }) satisfies RequestParts;

describe('sticky-sessions 4.2 rows that depend on headers and fleet', () => {
  it.each([
    { what: 'override on, tokens hint', options: {}, parts: tokens('1,2'), want: 'routing_key_override' },
    { what: 'prompt policy, no hint', options: { policy: promptPolicy, keys: OFF }, want: 'policy_needs_text' },
    { what: 'prompt policy, hint', options: { policy: promptPolicy, keys: OFF }, parts: tokens('1,2,3'), want: null },
    {
      what: 'prompt policy, bad hint',
      options: { policy: promptPolicy, keys: OFF },
      parts: tokens('1,,3'),
      want: 'policy_needs_text',
    },
    {
      what: 'prompt policy, routing key only, override off',
      options: { policy: promptPolicy, keys: OFF },
      parts: { key: 'k' },
      want: 'policy_needs_text',
    },
    { what: 'round_robin, override off', options: { keys: OFF }, want: null },
  ] satisfies { what: string; options: DriverOptions; parts?: RequestParts; want: string | null }[])(
    '$what: $want',
    ({ options, parts, want }) => {
      expect(need(options, parts)).toBe(want);
    },
  );

  it('needs the model where the workers serve different ones', () => {
    expect(need({ keys: OFF }, {}, several)).toBe('model_ambiguous');
    expect(need({ keys: { order: 'header-only' } }, { key: 'k' }, several)).toBe('model_ambiguous');
  });

  it('names the first reason that holds', () => {
    expect(need({ policy: promptPolicy }, {}, several)).toBe('routing_key_override');
    expect(need({ policy: promptPolicy, keys: OFF }, {}, several)).toBe('policy_needs_text');
  });
});

describe('sticky-sessions 11.2 header keys and the rid', () => {
  const long = 'k'.repeat(129);

  it.each([
    { order: 'rid-first', parts: { key: 'k' }, want: 'routing_key_override' },
    { order: 'rid-first', parts: {}, want: 'routing_key_override' },
    { order: 'header-first', parts: { key: 'k' }, want: null },
    { order: 'header-first', parts: { key: long }, want: 'routing_key_override' },
    { order: 'header-first', parts: {}, want: 'routing_key_override' },
    { order: 'header-only', parts: { key: 'k' }, want: null },
    { order: 'header-only', parts: {}, want: null },
  ] as const)('$order with $parts: $want', ({ order, parts, want }) => {
    expect(need({ keys: { order } }, parts)).toBe(want);
  });

  it('goes by the header that the policy reads', () => {
    const keys = { order: 'header-first', headers: ['x-foo'] } as const;
    const listed = { headers: [['x-foo', 'f']] } satisfies RequestParts;

    expect(need({ policy: 'manual', keys }, { key: long })).toBeNull();
    expect(need({ policy: 'manual', keys }, listed)).toBe('routing_key_override');
    expect(need({ policy: 'consistent_hashing', keys }, { key: 'k' })).toBeNull();
    expect(need({ policy: 'round_robin', keys }, { key: 'k' })).toBe('routing_key_override');
  });

  it('needs nothing for the rid of an endpoint that has none', () => {
    expect(need({}, {}, one, false)).toBeNull();
    expect(need({}, {}, several, false)).toBe('model_ambiguous');
  });

  it('needs no rid where a target worker beats it, but still the model', () => {
    expect(need({ policy: 'consistent_hashing' }, { target: '0' })).toBeNull();
    expect(need({ policy: 'consistent_hashing' }, { target: '' })).toBe('routing_key_override');
    expect(need({ policy: 'round_robin' }, { target: '0' })).toBe('routing_key_override');
    expect(need({ policy: 'consistent_hashing' }, { target: '0' }, several)).toBe('model_ambiguous');
  });
});
