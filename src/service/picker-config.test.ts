import { describe, expect, it } from 'vitest';
import { TestFleet } from '../../test/support/fleet.ts';
import { makeRequest } from '../../test/support/routing.ts';
import { load } from '../../test/support/try-load.ts';
import { MemoryPinStore } from '../pins/memory-pin-store.ts';
import { ModelPolicies } from '../routing/model-policies.ts';
import { POLICY_NAMES } from '../routing/policy-name.ts';
import { gatewayPolicyOf, pickerConfigOf } from './picker-config.ts';

const settingsOf = (flags: string) => load({ flags }).settings;

function made(flags: string) {
  const policies = new ModelPolicies(gatewayPolicyOf(settingsOf(flags)));
  const pins = new MemoryPinStore({ maxPins: 10 });
  return { policies, pins, config: pickerConfigOf(settingsOf(flags), pins, { whole: policies, legs: null }) };
}

describe('policies 7 the policy of the settings', () => {
  it.each(POLICY_NAMES)('%s is made', (name) => {
    expect(made(`--policy ${name}`).policies.standard.name).toBe(name);
  });

  it('has the values of the flags', () => {
    const flags = [
      '--policy least_load --least-load-kv-pressure-weight 1 --least-load-mean-prefill-tokens 2',
      '--least-load-default-throughput 3 --least-load-max-waiting-requests 4 --cache-threshold 0.5',
      '--balance-abs-threshold 6 --balance-rel-threshold 7 --max-tree-size 8 --block-size 9 --overlap-decay 10',
      '--selection-temperature 11 --cache-index hash --cache-boundaries 12,13 --cache-ttl-secs 14',
      '--eviction-interval 15 --prefix-token-count 16 --prefix-hash-load-factor 17',
      '--prefix-hash-balance-abs-threshold 18 --balance-token-usage-threshold 0.1 --overload-token-usage-threshold 0.2',
    ].join(' ');

    expect(gatewayPolicyOf(settingsOf(flags)).options).toMatchObject({
      leastLoad: { kvPressureWeight: 1, meanPrefillTokens: 2, defaultThroughput: 3, maxWaitingRequests: 4 },
      cacheAware: {
        cacheThreshold: 0.5,
        balanceAbsThreshold: 6,
        balanceRelThreshold: 7,
        maxTreeSize: 8,
        blockSize: 9,
        overlapDecay: 10,
        selectionTemperature: 11,
        cacheIndex: 'hash',
        cacheBoundaries: [12, 13],
        cacheTtlMs: 14_000,
        evictionIntervalMs: 15_000,
        balanceTokenUsageThreshold: 0.1,
        overloadTokenUsageThreshold: 0.2,
      },
      prefixHash: { prefixTokenCount: 16, loadFactor: 17, balanceAbsThreshold: 18, cacheBoundaries: [12, 13] },
      bucket: { balanceAbsThreshold: 6, balanceRelThreshold: 7, adjustIntervalMs: 5_000 },
    });
  });

  it.each([
    { before: '--policy cache_aware', after: '--policy cache_aware --max-idle-secs 5 --fallbacks 0', kept: true },
    { before: '--policy cache_aware', after: '--policy cache_aware --cache-threshold 0.4', kept: false },
    { before: '--policy round_robin', after: '--policy round_robin --cache-threshold 0.4', kept: true },
    { before: '--policy prefix_hash', after: '--policy prefix_hash --routing-key-headers x-a', kept: false },
    { before: '--policy cache_aware', after: '--policy cache_aware --routing-key-headers x-a', kept: true },
    { before: '--policy manual', after: '--policy manual --assignment-mode min_load', kept: false },
  ])('$before, then $after: kept $kept', ({ before, after, kept }) => {
    const { policies } = made(before);
    const standard = policies.standard;

    policies.configure(gatewayPolicyOf(settingsOf(after)));

    expect(policies.standard === standard).toBe(kept);
  });
});

describe('decisions 33 --smg-compat in routing', () => {
  it.each([
    { flags: '', list: false },
    { flags: '--smg-compat 1.13', list: true },
  ])('"$flags": manual reads the list $list', ({ flags, list }) => {
    expect(gatewayPolicyOf(settingsOf(flags)).options.keys).toMatchObject({ manualReadsList: list });
  });

  it.each([
    { flags: '', kind: 'refused' },
    { flags: '--worker-overload-shed', kind: 'refused' },
    { flags: '--smg-compat 1.13', kind: 'placed' },
    { flags: '--smg-compat 1.13 --worker-overload-shed', kind: 'refused' },
  ])('"$flags": a request to an overloaded fleet is $kind', ({ flags, kind }) => {
    const { config, policies } = made(`--policy random ${flags}`);
    const fleet = new TestFleet(['A']);
    fleet.snapshot = {
      ...fleet.snapshot,
      pool: () => {
        const worker = { ...fleet.worker('A'), overloaded: true, placeable: false, keepsPins: false };
        return { model: 'unknown', members: [worker], memberIds: ['A'], available: [] };
      },
    };
    policies.follow(fleet.snapshot);

    expect(config.router.decide(makeRequest(), fleet.snapshot, 0, Math.random).kind).toBe(kind);
  });
});

describe('what the flags of sticky sessions do', () => {
  const PIN = '7:unknown:s:k';

  /** The next request of a key that is pinned to A. */
  function next(flags: string, prepare: (fleet: TestFleet) => void = () => {}) {
    const { config, pins, policies } = made(`--policy cache_aware --routing-key-override ${flags}`);
    const fleet = new TestFleet(['A', 'B', 'C', 'D', 'E']);
    pins.put(PIN, ['A'], 0, 0);
    prepare(fleet);
    policies.follow(fleet.snapshot);
    const prompt = { text: 'a prompt' };
    const outcome = config.router.decide(makeRequest({ key: 'k', prompt }), fleet.snapshot, 0, () => 0);
    if (outcome.kind !== 'placed') throw new Error(outcome.reason);
    return { outcome, config, memory: policies.standard.memory };
  }

  it.each([
    { flags: '', fallbacks: 2 },
    { flags: '--fallbacks 0', fallbacks: 0 },
    { flags: '--fallbacks 4', fallbacks: 4 },
  ])('"$flags": $fallbacks further workers', ({ flags, fallbacks }) => {
    expect(next(flags).outcome.fallbacks).toHaveLength(fallbacks);
  });

  it.each([
    { flags: '', inFlight: 1, branch: 'occupied_hit' },
    { flags: '', inFlight: 2, branch: 'cap_respill' },
    { flags: '--pin-inflight-cap 3', inFlight: 2, branch: 'occupied_hit' },
    { flags: '--pin-inflight-cap 0', inFlight: 9, branch: 'occupied_hit' },
  ])('"$flags", $inFlight in flight: $branch', ({ flags, inFlight, branch }) => {
    expect(next(flags, (fleet) => fleet.load('A').begin('k', inFlight)).outcome.trail.stickyBranch).toBe(branch);
  });

  it.each([
    { flags: '', stays: true },
    { flags: '--pin-load-factor 2', stays: false },
  ])('"$flags": stays on a hot worker $stays', ({ flags, stays }) => {
    const { outcome } = next(flags, (fleet) => fleet.load('A').begin(null, 50));

    expect(outcome.worker.id === 'A').toBe(stays);
  });

  it.each([
    { flags: '', candidates: ['B', 'A'] },
    { flags: '--failback always', candidates: ['A', 'B'] },
    { flags: '--assignment-mode min_load', candidates: ['A', 'B'] },
    { flags: '--assignment-mode min_load --failback never', candidates: ['B', 'A'] },
  ])('"$flags": after a failover the candidates are $candidates', ({ flags, candidates }) => {
    const { outcome } = next(flags, (fleet) => {
      fleet.set('down', 'A');
      for (const id of ['C', 'D', 'E']) fleet.load(id).begin(null, 9);
    });

    expect(outcome.write?.candidates).toEqual(candidates);
  });

  it.each([
    { flags: '', chars: 0 },
    { flags: '--learn-from-pins', chars: 'a prompt'.length },
  ])('"$flags": of a pinned prompt $chars characters are remembered', ({ flags, chars }) => {
    const { memory } = next(flags);

    expect((memory?.sizes() ?? []).reduce((sum, size) => sum + (size.chars ?? 0), 0)).toBe(chars);
  });
});

it('policies 2.4 aliases are split at the first =', () => {
  expect([...made('--model-alias a=b c=d=e').config.modelAliases]).toEqual([
    ['a', 'b'],
    ['c', 'd=e'],
  ]);
});
