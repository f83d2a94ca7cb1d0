import { describe, expect, it } from 'vitest';
import { makeSnapshot, makeWorker, TestFleet } from '../../test/support/fleet.ts';
import { type DriverOptions, makeRequest, type RequestParts, RouterDriver } from '../../test/support/routing.ts';
import { endpointOf } from '../request/endpoint.ts';
import type { Policy } from './policy.ts';
import { POLICY_FACTS } from './policy-facts.ts';

const CHAT = endpointOf('/v1/chat/completions');
const NO_RID = endpointOf('/v1/responses');

const one = makeSnapshot([makeWorker('a', { models: ['m'] }), makeWorker('b', { models: ['m'] })]);
const several = makeSnapshot([makeWorker('a', { models: ['m'] }), makeWorker('b', { models: ['n'] })]);

/** Stands for a policy that reads the prompt. */
const promptPolicy: Policy = {
  name: 'cache_aware',
  facts: POLICY_FACTS.cache_aware,
  memory: null,
  pick: ({ candidates }) => candidates[0] ?? null,
  next: () => null,
};

function need(options: DriverOptions, parts: RequestParts = {}, snapshot = one, endpoint = CHAT) {
  return new RouterDriver(new TestFleet([]), options).router.bodyNeed(makeRequest(parts).head, snapshot, endpoint);
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

  it('needs the model to check it, where the workers list theirs', () => {
    const unlisted = makeSnapshot([makeWorker('a'), makeWorker('b')]);

    expect(need({ keys: OFF, checkModel: true })).toBe('model_ambiguous');
    expect(need({ keys: { order: 'header-only' }, checkModel: true }, { key: 'k' })).toBe('model_ambiguous');
    expect(need({ keys: OFF, checkModel: true }, {}, unlisted)).toBeNull();
    expect(need({ keys: OFF, checkModel: false })).toBeNull();
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
    expect(need({}, {}, one, NO_RID)).toBeNull();
    expect(need({}, {}, several, NO_RID)).toBe('model_ambiguous');
  });

  it('needs no rid where a target worker beats it, but still the model', () => {
    expect(need({ policy: 'consistent_hashing' }, { target: '0' })).toBeNull();
    expect(need({ policy: 'consistent_hashing' }, { target: '' })).toBe('routing_key_override');
    expect(need({ policy: 'round_robin' }, { target: '0' })).toBe('routing_key_override');
    expect(need({ policy: 'consistent_hashing' }, { target: '0' }, several)).toBe('model_ambiguous');
  });
});

describe('sticky-sessions 11.2 a pinned key that the header tells, under a policy that reads prompts', () => {
  const PIN = '1:m:s:k';
  const ONLY = { policy: promptPolicy, keys: { order: 'header-only' } } as const;

  function needPinned(
    options: DriverOptions,
    parts: RequestParts,
    { candidates = ['a'], inFlight = 0, endpoint = CHAT, snapshot = one } = {},
  ) {
    const driver = new RouterDriver(new TestFleet(snapshot.workers), options);
    driver.pins.put(PIN, candidates, 0, 1);
    driver.fleet.load('a').begin('k', inFlight);
    const need = driver.router.bodyNeed(makeRequest(parts).head, driver.fleet.snapshot, endpoint);
    for (const worker of snapshot.workers) driver.fleet.load(worker.id).end('k', inFlight);
    return need;
  }

  const bodyless = { policy: promptPolicy, keys: { order: 'header-first' } } as const;
  const ridFirst = { policy: promptPolicy } as const;
  const override = { policy: promptPolicy, keys: { order: 'header-only', override: false } } as const;
  const downA = makeSnapshot([
    makeWorker('a', { models: ['m'], placeable: false, keepsPins: false }),
    makeWorker('b', { models: ['m'] }),
  ]);

  it.each([
    { what: 'header-only', options: ONLY, parts: { key: 'k_t2' }, want: null },
    { what: 'header-first', options: bodyless, parts: { key: 'k_t2' }, want: null },
    { what: 'rid-first, where a rid may follow', options: ridFirst, parts: { key: 'k' }, want: 'routing_key_override' },
    {
      what: 'rid-first, no rid there',
      options: ridFirst,
      parts: { key: 'k' },
      facts: { endpoint: NO_RID },
      want: null,
    },
    { what: 'another key', options: ONLY, parts: { key: 'new' }, want: 'policy_needs_text' },
    { what: 'no key', options: ONLY, parts: {}, want: 'policy_needs_text' },
    { what: 'the override is off', options: override, parts: { key: 'k' }, want: 'policy_needs_text' },
    {
      what: 'the trigger is reached',
      options: ONLY,
      parts: { key: 'k' },
      facts: { inFlight: 2 },
      want: 'policy_needs_text',
    },
    {
      what: 'the worker is gone',
      options: ONLY,
      parts: { key: 'k' },
      facts: { candidates: ['z'] },
      want: 'policy_needs_text',
    },
    {
      what: 'the worker is down',
      options: ONLY,
      parts: { key: 'k' },
      facts: { snapshot: downA },
      want: 'policy_needs_text',
    },
    {
      what: 'the other worker of the pin serves',
      options: ONLY,
      parts: { key: 'k' },
      facts: { snapshot: downA, candidates: ['a', 'b'] },
      want: null,
    },
    {
      what: 'the model is not certain',
      options: ONLY,
      parts: { key: 'k' },
      facts: { snapshot: several },
      want: 'policy_needs_text',
    },
  ] satisfies {
    what: string;
    options: DriverOptions;
    parts: RequestParts;
    facts?: Parameters<typeof needPinned>[2];
    want: string | null;
  }[])('$what: $want', ({ options, parts, facts, want }) => {
    expect(needPinned(options, parts, facts)).toBe(want);
  });

  it('does not count as a use of the pin', () => {
    const driver = new RouterDriver(new TestFleet(one.workers), ONLY);
    driver.pins.put(PIN, ['a'], 0, 1);

    driver.router.bodyNeed(makeRequest({ key: 'k' }).head, driver.fleet.snapshot, CHAT);

    expect(driver.pins.list(1, null, 100).pins[0]?.idleMs).toBe(99);
  });

  it.each([
    { override: true, parts: { key: 'new' }, want: null },
    { override: false, parts: { key: 'new' }, want: null },
    { override: false, parts: {}, want: 'policy_needs_text' },
    { override: false, parts: tokens('1'), want: null },
  ])('prefix_hash hashes a header key instead, override $override, $parts: $want', ({ override, parts, want }) => {
    expect(need({ policy: 'prefix_hash', keys: { order: 'header-only', override } }, parts)).toBe(want);
  });
});

describe('policies 2.4 several policies in one fleet', () => {
  const labelled = (policy: string, ...models: string[]) => makeWorker(models.join(), { models, labels: { policy } });
  const needIn = (workers: ReturnType<typeof makeWorker>[], parts: RequestParts = {}, options: DriverOptions = {}) => {
    const driver = new RouterDriver(new TestFleet(workers), { keys: OFF, ...options });
    driver.router.policies.follow(driver.fleet.snapshot);
    return driver.router.bodyNeed(makeRequest(parts).head, driver.fleet.snapshot, CHAT);
  };

  it.each([
    {
      what: 'the only model has a policy that reads prompts',
      workers: [labelled('bucket', 'm')],
      want: 'policy_needs_text',
    },
    { what: 'the only model has one that does not', workers: [labelled('random', 'm')], want: null },
    {
      what: 'any of several models has one that reads prompts',
      workers: [labelled('random', 'm'), labelled('bucket', 'n')],
      want: 'policy_needs_text',
    },
    {
      what: 'the same, with a hint in the place of the prompt',
      workers: [labelled('random', 'm'), labelled('bucket', 'n')],
      parts: tokens('1'),
      want: 'model_ambiguous',
    },
    {
      what: 'none of several has',
      workers: [labelled('random', 'm'), labelled('random', 'n')],
      want: 'model_ambiguous',
    },
    {
      what: 'models share workers but not their policy',
      workers: [labelled('random', 'm', 'n')],
      want: 'model_ambiguous',
    },
    { what: 'models share workers and policy', workers: [makeWorker('a', { models: ['m', 'n'] })], want: null },
  ])('$what: $want', ({ workers, parts, want }) => {
    expect(needIn(workers, parts)).toBe(want);
  });

  it('goes by the policy of the only model, not by the gateway’s', () => {
    expect(needIn([labelled('random', 'm')], {}, { policy: promptPolicy })).toBeNull();
  });
});
