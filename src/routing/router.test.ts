import { describe, expect, it } from 'vitest';
import { makeWorker, TestFleet } from '../../test/support/fleet.ts';
import { type DriverOptions, makeRequest, type RequestParts, RouterDriver } from '../../test/support/routing.ts';
import { KEY_ORDERS } from './key-sources.ts';
import { POLICY_NAMES } from './policy-name.ts';

const OFF = { override: false };

function drive(options: DriverOptions = {}, ...ids: readonly string[]): RouterDriver {
  return new RouterDriver(new TestFleet(ids.length > 0 ? ids : ['A', 'B', 'C']), options);
}

describe('sticky-sessions 3.1 which policies are sticky', () => {
  it.each([
    { policy: 'round_robin', on: '7:unknown:s:k', off: null },
    { policy: 'random', on: '7:unknown:s:k', off: null },
    { policy: 'passthrough', on: '7:unknown:s:k', off: null },
    { policy: 'manual', on: 'manual:s:k', off: 'manual:s:k' },
    { policy: 'consistent_hashing', on: null, off: null },
  ] as const)('$policy pins under $on with the override, $off without', ({ policy, on, off }) => {
    const request = { key: 'k' };

    expect(drive({ policy }).place(request).pinKey).toBe(on);
    expect(drive({ policy, keys: OFF }).place(request).pinKey).toBe(off);
  });

  it('leaves unkeyed requests to the policy, and its rotation alone on a hit', () => {
    const driver = drive();
    const ids = [{}, { key: 'k' }, { key: 'k' }, {}, { key: 'k' }, {}].map((parts) => driver.place(parts).worker.id);

    expect(ids).toEqual(['A', 'B', 'B', 'C', 'B', 'A']);
  });

  it('sends six new keys round, and their second turns back', () => {
    const driver = drive();
    const at = (n: number) => driver.place({ rid: `key-${n}` }).worker.id;

    expect([0, 1, 2, 3, 4, 5].map(at)).toEqual(['A', 'B', 'C', 'A', 'B', 'C']);
    expect([5, 0, 3, 1].map(at)).toEqual(['C', 'A', 'A', 'B']);
  });

  it.each(POLICY_NAMES)('tells the real name of %s also when a pin decides', (policy) => {
    const driver = drive({ policy });
    driver.place({ key: 'k' });

    expect(driver.place({ key: 'k' }).policy).toBe(policy);
  });
});

describe('sticky-sessions 2.4 key of the pin', () => {
  it.each([
    { policy: 'round_robin', parts: { rid: 'conv', key: 'x' }, pin: '7:unknown:s:conv', source: 'rid' },
    { policy: 'round_robin', parts: { key: 'conv_t2' }, pin: '7:unknown:s:conv', source: 'header' },
    { policy: 'manual', parts: { rid: 'conv', key: 'x' }, pin: 'manual:s:conv', source: null },
    { policy: 'manual', parts: { key: 'conv_t2' }, pin: 'manual:s:conv_t2', source: null },
    { policy: 'consistent_hashing', parts: { rid: 'conv', key: 'x' }, pin: null, source: null },
  ] as const)('$policy with $parts: $pin, source $source', ({ policy, parts, pin, source }) => {
    const decision = drive({ policy }).place(parts);

    expect([decision.pinKey, decision.trail.keySource]).toEqual([pin, source]);
  });

  it('follows the configured order', () => {
    const pin = (order: (typeof KEY_ORDERS)[number]) => drive({ keys: { order } }).place({ rid: 'r', key: 'h' }).pinKey;

    expect(KEY_ORDERS.map(pin)).toEqual(['7:unknown:s:r', '7:unknown:s:h', '7:unknown:s:h']);
  });
});

describe('sticky-sessions 2.6 load key beside the pin key', () => {
  it('is one counter for two pins of manual', () => {
    const driver = drive({ policy: 'manual' });
    const [one, two] = [driver.place({ key: 'conv_t1' }), driver.place({ key: 'conv_t2' })];

    expect([one.pinKey, two.pinKey]).toEqual(['manual:s:conv_t1', 'manual:s:conv_t2']);
    expect([one.loadKey, two.loadKey]).toEqual(['conv', 'conv']);
  });

  it.each([
    { policy: 'round_robin', keys: OFF, parts: { key: 'k_t1' }, load: 'k_t1' },
    { policy: 'round_robin', keys: {}, parts: { rid: 'r', key: 'k' }, load: 'r' },
    { policy: 'consistent_hashing', keys: {}, parts: { rid: 'r' }, load: 'r' },
    { policy: 'manual', keys: OFF, parts: { key: 'k'.repeat(200) }, load: null },
    { policy: 'round_robin', keys: {}, parts: {}, load: null },
  ] as const)('$policy with $parts counts as $load', ({ policy, keys, parts, load }) => {
    expect(drive({ policy, keys }).place(parts).loadKey).toBe(load);
  });
});

describe('sticky-sessions 5 scenarios', () => {
  it('override on, target worker and rid under another policy: rid, the target is ignored', () => {
    const decision = drive().place({ target: '2', rid: 'a' });

    expect([decision.worker.id, decision.pinKey, decision.strict]).toEqual(['A', '7:unknown:s:a', false]);
  });

  it('override on, consistent_hashing, target worker 0 and rid: worker 0', () => {
    const decision = drive({ policy: 'consistent_hashing' }).place({ target: '0', rid: 'a' });

    expect([decision.worker.id, decision.trail.ringBranch]).toEqual(['A', 'target_worker_hit']);
  });

  it('override on, a key that is pinned: the pin wins over what the policy would do', () => {
    const driver = drive();
    driver.place({ rid: 'a' });
    driver.place({});

    expect(driver.place({ rid: 'a' }).worker.id).toBe('A');
  });

  it('override off, a keyed request on round_robin: the key is ignored', () => {
    const driver = drive({ keys: OFF });

    expect([1, 2, 3].map(() => driver.place({ key: 'k', rid: 'r' }).worker.id)).toEqual(['A', 'B', 'C']);
    expect(driver.pins.size).toBe(0);
  });

  it.each([
    { headers: [['authorization', 'token']], parts: { rid: 'r', key: 'h' }, on: 'r', off: 'h' },
    { headers: [['authorization', 'token']], parts: { key: 'h' }, on: 'h', off: 'h' },
    { headers: [['authorization', 'token']], parts: {}, on: 'token', off: 'token' },
  ] satisfies { headers: RequestParts['headers']; parts: RequestParts; on: string; off: string }[])(
    'consistent_hashing with $parts goes by $on with the override, $off without',
    ({ headers, parts, on, off }) => {
      const at = (keys: { override: boolean }, asked: RequestParts) =>
        drive({ policy: 'consistent_hashing', keys }, 'a', 'b', 'c', 'd', 'e', 'f', 'g').place(asked).worker.id;
      const only = (key: string) => at(OFF, { key });

      expect(at({ override: true }, { ...parts, headers })).toBe(only(on));
      expect(at(OFF, { ...parts, headers })).toBe(only(off));
    },
  );
});

describe('sticky-sessions 3.8 manual', () => {
  it('does not pin without a key', () => {
    const driver = drive({ policy: 'manual' });

    const decision = driver.place({});

    expect([decision.trail.stickyBranch, decision.pinKey, decision.write]).toEqual(['no_routing_id', null, null]);
    expect(driver.pins.size).toBe(0);
  });

  it('shares a pin between models', () => {
    const driver = drive({ policy: 'manual', random: Math.random });
    const { worker } = driver.place({ key: 'k', model: 'm' });

    const other = driver.place({ key: 'k', model: 'n' });

    expect([other.worker, other.trail.stickyBranch]).toEqual([worker, 'occupied_hit']);
  });

  it.each([{ parts: { key: 'k' } }, { parts: {} }])('says so when nobody is available: $parts', ({ parts }) => {
    const driver = drive({ policy: 'manual' });
    driver.fleet.set('down', 'A', 'B', 'C');

    expect(driver.route(parts)).toMatchObject({
      kind: 'refused',
      reason: 'no_available_workers',
      policy: 'manual',
      trail: { stickyBranch: 'no_healthy_workers' },
    });
  });
});

describe('sticky-sessions 3.9 first requests at once', () => {
  it.each(['round_robin', 'manual'] as const)('%s: the losers of a commit follow the winner', (policy) => {
    const driver = drive({ policy, random: Math.random });
    const decided = Array.from({ length: 5 }, () => driver.decide({ key: 'k' }));
    expect(decided.every((outcome) => outcome.kind === 'placed' && outcome.write !== null)).toBe(true);

    const settled = decided.map((outcome) => {
      if (outcome.kind === 'placed' && driver.commit(outcome)) return outcome.worker.id;
      return driver.place({ key: 'k' }).worker.id;
    });

    expect(new Set(settled).size).toBe(1);
    expect(driver.candidates(policy === 'manual' ? 'manual:s:k' : '7:unknown:s:k')).toEqual([settled[0]]);
  });

  it('lets one of two re-placements of a stale key win', () => {
    const driver = drive();
    driver.place({ key: 'k' });
    driver.fleet.set('down', 'A');
    const [one, two] = [driver.decide({ key: 'k' }), driver.decide({ key: 'k' })];
    if (one.kind !== 'placed' || two.kind !== 'placed') throw new Error('both must be placed');
    expect(one.worker).not.toBe(two.worker);

    expect(driver.commit(one)).toBe(true);
    expect(driver.commit(two)).toBe(false);

    expect(driver.place({ key: 'k' }).worker).toBe(one.worker);
  });
});

describe('sticky-sessions 3.12 models', () => {
  const fleet = () =>
    new TestFleet(['a1', 'a2', 'b1', 'b2', 'c1', 'c2'].map((id) => makeWorker(id, { models: [id[0]!] })));

  it('keeps one pin for each model of a key', () => {
    const driver = new RouterDriver(fleet());
    const first = ['a', 'b', 'c'].map((model) => driver.place({ rid: 'shared', model }).worker.id);

    const again = ['a', 'b', 'c', 'a', 'b'].map((model) => driver.place({ rid: 'shared', model }).worker.id);

    expect(first).toEqual(['a1', 'b2', 'c1']);
    expect(again).toEqual(['a1', 'b2', 'c1', 'a1', 'b2']);
    expect(driver.pins.size).toBe(3);
  });

  it('shares the counter of the load key between them', () => {
    const driver = new RouterDriver(new TestFleet(['A', 'B']));
    driver.hold({ rid: 'k', model: 'm' });
    driver.fleet.load('A').begin('k');

    expect(driver.place({ rid: 'k', model: 'm' }).trail.stickyBranch).toBe('cap_respill');
  });
});

describe('sticky-sessions 7.2 refusals', () => {
  it('does not know a model that no worker knows', () => {
    const driver = new RouterDriver(new TestFleet([makeWorker('a', { models: ['m'] })]));

    expect(driver.route({ model: 'nope', rid: 'x' })).toMatchObject({
      kind: 'refused',
      reason: 'model_not_found',
      model: 'nope',
    });
  });

  it('knows a model whose workers are all down', () => {
    const driver = new RouterDriver(new TestFleet([makeWorker('a', { models: ['m'] })]));
    driver.fleet.set('down', 'a');

    expect(driver.route({ model: 'm' })).toMatchObject({ reason: 'no_available_workers', model: 'm' });
  });

  it('has nobody in an empty fleet', () => {
    expect(new RouterDriver(new TestFleet([])).route({})).toMatchObject({
      reason: 'no_available_workers',
      model: 'unknown',
    });
  });

  it('blames no model when a request names none and there is no pool for it', () => {
    const { router, fleet } = drive();
    const snapshot = { ...fleet.snapshot, pool: () => undefined };

    expect(router.decide(makeRequest(), snapshot, 0, Math.random)).toMatchObject({
      reason: 'no_available_workers',
      model: 'unknown',
    });
  });

  it.each(POLICY_NAMES)('has nobody under %s when all are down', (policy) => {
    const driver = drive({ policy });
    driver.fleet.set('down', 'A', 'B', 'C');

    // SMG 1.11 does not ask the policy then, and counts no branch of it.
    expect(driver.route({ key: 'k' })).toMatchObject({
      reason: 'no_available_workers',
      trail: { ringBranch: null, prefixBranch: null },
    });
  });

  it('refuses a missed target, whatever the keys', () => {
    const outcome = drive({ policy: 'consistent_hashing' }).route({ target: '7', key: 'k', rid: 'r' });

    expect(outcome).toMatchObject({ reason: 'no_available_workers', trail: { ringBranch: 'target_worker_miss' } });
  });
});

describe('sticky-sessions 11.4 destinations', () => {
  const ids = (outcome: ReturnType<RouterDriver['place']>) =>
    [outcome.worker, ...outcome.fallbacks].map(({ id }) => id);

  it('names the next in rotation after the chosen one', () => {
    expect(ids(drive({}, 'A', 'B', 'C', 'D').place({}))).toEqual(['A', 'B', 'C']);
  });

  it('names the other worker of the pin first', () => {
    const driver = drive({}, 'A', 'B', 'C', 'D');
    driver.pins.put('7:unknown:s:k', ['A', 'D'], 0, 0);

    expect(ids(driver.place({ key: 'k' })).slice(0, 2)).toEqual(['A', 'D']);
  });

  it('names the old worker after a request was placed again for its load', () => {
    const driver = drive({}, 'A', 'B', 'C', 'D');
    driver.pins.put('7:unknown:s:k', ['C', 'D'], 0, 0);
    driver.fleet.load('C').begin('k', 2);

    expect(ids(driver.place({ key: 'k' })).slice(0, 2)).toEqual(['A', 'C']);
  });

  it('passes over another worker of the pin that is down', () => {
    const driver = drive({}, 'A', 'B', 'C', 'D');
    driver.pins.put('7:unknown:s:k', ['A', 'D'], 0, 0);
    driver.fleet.set('down', 'D');

    expect(ids(driver.place({ key: 'k' })).toSorted()).toEqual(['A', 'B', 'C']);
  });

  describe.each(['round_robin', 'random'] as const)('under %s', (policy) => {
    const keys = Array.from({ length: 300 }, (_, n) => `conv-${n}`);
    const pinnedToB = (): RouterDriver => {
      const driver = drive({ policy, random: Math.random }, 'A', 'B', 'C', 'D');
      for (const key of keys) driver.pins.put(`7:unknown:s:${key}`, ['B'], 0, 0);
      return driver;
    };

    it('are the same for each request of a key, so that all of them go on to one worker', () => {
      const driver = pinnedToB();
      for (const key of keys) expect(ids(driver.place({ key })), key).toEqual(ids(driver.place({ key })));
    });

    it('spread the keys of one worker over all others, in both places', () => {
      const driver = pinnedToB();
      const lists = keys.map((key) => ids(driver.place({ key })));

      for (const place of [1, 2]) {
        for (const id of ['A', 'C', 'D']) {
          const share = lists.filter((list) => list[place] === id).length;
          expect(share, `${id} as number ${place}`).toBeGreaterThan(70);
          expect(share, `${id} as number ${place}`).toBeLessThan(130);
        }
      }
    });
  });

  it('spread the unkeyed requests of one worker over all others', () => {
    const driver = drive({}, 'A', 'B', 'C', 'D');
    const lists = Array.from({ length: 24 }, () => ids(driver.place({})));
    const afterB = lists.filter(([first]) => first === 'B').map((list) => list[1]);

    expect(afterB.toSorted()).toEqual(['A', 'A', 'C', 'C', 'D', 'D']);
  });

  it('names the successors on the ring', () => {
    const driver = drive({ policy: 'consistent_hashing' }, 'http://w1:8000', 'http://w2:8000', 'http://w3:8000');

    expect(ids(driver.place({ key: 'user-2' }))).toEqual(['http://w2:8000', 'http://w3:8000', 'http://w1:8000']);
  });

  it.each([
    { fallbacks: 0, count: 1 },
    { fallbacks: 1, count: 2 },
    { fallbacks: 9, count: 4 },
  ])('are $count of four workers with $fallbacks fallbacks', ({ fallbacks, count }) => {
    const driver = drive({ fallbacks }, 'A', 'B', 'C', 'D');
    driver.pins.put('7:unknown:s:k', ['A', 'D'], 0, 0);

    expect(ids(driver.place({}))).toHaveLength(count);
    expect(ids(driver.place({ key: 'k' }))).toHaveLength(count);
  });

  it('is one alone for a strict target', () => {
    const decision = drive({ policy: 'consistent_hashing' }).place({ target: '1' });

    expect([ids(decision), decision.strict]).toEqual([['B'], true]);
  });
});

describe('sticky-sessions 11.4 after another worker served', () => {
  it.each([
    { what: 'delegate', options: {}, after: ['B', 'A'] },
    { what: 'min_load', options: { mode: 'min_load' }, after: ['A', 'B'] },
    { what: 'manual', options: { policy: 'manual', mode: 'delegate' }, after: ['A', 'B'] },
  ] satisfies { what: string; options: DriverOptions; after: string[] }[])(
    '$what stores $after',
    ({ options, after }) => {
      const { router } = drive(options);

      const pinKey = 'policy' in options ? 'manual:s:k' : '7:unknown:s:k';

      expect(router.afterServed(pinKey, ['A'], 'B')).toEqual(after);
      expect(router.afterServed(pinKey, ['A', 'B'], 'A')).toBeNull();
    },
  );

  it('sends the next request of the key to the worker that served, under delegate', () => {
    const driver = drive();
    const { pinKey } = driver.place({ key: 'k' });
    const pin = driver.pins.peek(pinKey!)!;
    driver.pins.put(pinKey!, driver.router.afterServed(pinKey!, pin.candidates, 'C')!, pin.version, 1);

    expect(driver.place({ key: 'k' }).worker.id).toBe('C');
  });
});
