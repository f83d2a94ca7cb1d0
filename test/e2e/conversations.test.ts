import { afterEach, describe, expect, it } from 'vitest';
import { type Play, play } from '../support/conversations.ts';
import { type Metrics, noEnvoy, type Stack, startStack, until } from '../support/services.ts';

const OVERRIDE = ['--policy', 'round_robin', '--routing-key-override'];

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

async function start(flags: readonly string[]): Promise<Stack> {
  // Two threads: the turns of a conversation come over different connections to the service.
  stack = await startStack({ flags: [...flags, '--log-level', 'warn'], concurrency: 2 });
  return stack;
}

/** Plays on a stack and holds what is true of every play: each turn answered, and by the worker that it names. */
async function playOn(on: Stack, options: Omit<Play, 'url'>) {
  const played = await play({ url: on.url, ...options });
  expect(played.errors).toEqual([]);
  expect(played.turns).toHaveLength(options.conversations * options.turns);
  expect(played.wrongStamps(on.sim.workers)).toEqual([]);
  return played;
}

/** Metrics once the access log has told the end of every request. */
async function metricsWhenIdle(on: Stack): Promise<Metrics> {
  return until(async () => {
    const metrics = await on.service.metrics();
    return metrics.sum('smg_envoy_picks_in_flight') === 0 ? metrics : null;
  }, 'no request is in flight');
}

describe.skipIf(noEnvoy())('200 conversations of 10 turns with the openai client', () => {
  it('stay whole by `rid`, and by a header where a `rid` might come', async () => {
    const on = await start(OVERRIDE);

    const byRid = await playOn(on, { conversations: 200, turns: 10, key: 'rid', prefix: 'rid' });
    const afterRid = await metricsWhenIdle(on);
    const byHeader = await playOn(on, { conversations: 200, turns: 10, key: 'header', prefix: 'header' });
    const afterHeader = await metricsWhenIdle(on);

    expect(byRid.splits).toEqual([]);
    expect(byHeader.splits).toEqual([]);
    // The policy placed each conversation once: in turn.
    for (const count of Object.values(byRid.spread)) expect(count).toBeGreaterThan(60);
    expect(Object.keys(byRid.spread)).toHaveLength(3);
    expect(branches(afterRid)).toEqual({ vacant: 200, occupied_hit: 1800, cap_respill: 0, occupied_miss: 0 });
    expect(sources(afterRid)).toEqual({ rid: 2000, header: 0 });
    expect(sources(afterHeader)).toEqual({ rid: 2000, header: 2000 });
    expect(afterHeader.sum('smg_envoy_bodies_requested_total')).toBe(4000);
    expect(afterHeader.sum('smg_envoy_fail_open_total')).toBe(0);
  });

  it('stay whole by header alone, with no body read', async () => {
    const on = await start([...OVERRIDE, '--routing-key-order', 'header-only']);

    const played = await playOn(on, { conversations: 200, turns: 10, key: 'header' });
    const metrics = await metricsWhenIdle(on);

    expect(played.splits).toEqual([]);
    expect(branches(metrics)).toEqual({ vacant: 200, occupied_hit: 1800, cap_respill: 0, occupied_miss: 0 });
    expect(metrics.sum('smg_envoy_bodies_requested_total')).toBe(0);
    expect(metrics.sum('smg_envoy_messages_total', { kind: 'request_body' })).toBe(0);
    expect(metrics.sum('smg_envoy_fail_open_total')).toBe(0);
  });

  it('are split without stickiness', async () => {
    const on = await start(['--policy', 'round_robin']);

    const played = await playOn(on, { conversations: 200, turns: 10, key: 'rid' });

    expect(played.splits.length).toBeGreaterThan(180);
  });
});

describe.skipIf(noEnvoy())('every way to keep a key keeps conversations whole', () => {
  it.for([
    ['override, min_load', [...OVERRIDE, '--assignment-mode', 'min_load'], 'rid'],
    ['override, min_group', [...OVERRIDE, '--assignment-mode', 'min_group'], 'rid'],
    ['override, random', [...OVERRIDE, '--assignment-mode', 'random'], 'rid'],
    ['override, header first', [...OVERRIDE, '--routing-key-order', 'header-first'], 'header'],
    ['override over random', ['--policy', 'random', '--sticky-sessions'], 'rid'],
    ['manual', ['--policy', 'manual'], 'plain header'],
    ['manual, min_load', ['--policy', 'manual', '--assignment-mode', 'min_load'], 'plain header'],
    ['override and manual', ['--policy', 'manual', '--routing-key-override'], 'rid'],
    ['consistent_hashing', ['--policy', 'consistent_hashing'], 'plain header'],
    ['override and consistent_hashing', ['--policy', 'consistent_hashing', '--routing-key-override'], 'rid'],
  ] as const)('%s', async ([, flags, key]) => {
    const on = await start(flags);

    const played = await playOn(on, { conversations: 60, turns: 5, key });

    expect(played.splits).toEqual([]);
    expect(Object.keys(played.spread)).toHaveLength(3);
    expect((await on.service.metrics()).sum('smg_envoy_fail_open_total')).toBe(0);
  });
});

function branches(metrics: Metrics): Record<string, number> {
  const names = ['vacant', 'occupied_hit', 'cap_respill', 'occupied_miss'];
  return Object.fromEntries(names.map((branch) => [branch, metrics.sum('smg_manual_policy_branch_total', { branch })]));
}

function sources(metrics: Metrics): Record<string, number> {
  const names = ['rid', 'header'];
  return Object.fromEntries(names.map((source) => [source, metrics.sum('smg_routing_key_source_total', { source })]));
}
