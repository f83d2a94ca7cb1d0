import { describe, expect, it } from 'vitest';
import { TestFleet } from '../../test/support/fleet.ts';
import { type DriverOptions, RouterDriver } from '../../test/support/routing.ts';
import type { AssignmentMode } from './assignment.ts';
import { POLICY_FACTS } from './policy-facts.ts';

const PIN = '7:unknown:s:conv';
const ON_A = { candidates: ['A', 'C'] };

interface Step {
  readonly down: readonly string[];
  readonly worker: string;
  readonly branch: string;
  readonly after: readonly string[];
}

/** Plays a trace of sticky-sessions 3.7; the assignment is "first available" throughout. */
function play(options: DriverOptions, pinKey: string, steps: readonly Step[]): void {
  const driver = new RouterDriver(new TestFleet(['A', 'B', 'C']), options);
  for (const [i, step] of steps.entries()) {
    driver.fleet.set('up', 'A', 'B', 'C');
    driver.fleet.set('down', ...step.down);

    const decision = driver.place({ key: 'conv' });

    const got = {
      down: step.down,
      worker: decision.worker.id,
      branch: decision.trail.stickyBranch,
      after: driver.candidates(pinKey),
    };
    expect(got, `step ${i + 1}`).toEqual(step);
  }
}

const DELEGATE_TRACE: readonly Step[] = [
  { down: [], worker: 'A', branch: 'vacant', after: ['A'] },
  { down: ['A'], worker: 'B', branch: 'occupied_miss', after: ['B', 'A'] },
  { down: [], worker: 'B', branch: 'occupied_hit', after: ['B', 'A'] },
  { down: ['A', 'B'], worker: 'C', branch: 'occupied_miss', after: ['C', 'B'] },
  { down: [], worker: 'C', branch: 'occupied_hit', after: ['C', 'B'] },
  { down: ['C'], worker: 'B', branch: 'occupied_hit', after: ['C', 'B'] },
  { down: [], worker: 'C', branch: 'occupied_hit', after: ['C', 'B'] },
];

const OTHER_TRACE: readonly Step[] = [
  { down: [], worker: 'A', branch: 'vacant', after: ['A'] },
  { down: ['A'], worker: 'B', branch: 'occupied_miss', after: ['A', 'B'] },
  { down: [], worker: 'A', branch: 'occupied_hit', after: ['A', 'B'] },
  { down: ['A', 'B'], worker: 'C', branch: 'occupied_miss', after: ['B', 'C'] },
  { down: [], worker: 'B', branch: 'occupied_hit', after: ['B', 'C'] },
  { down: ['C'], worker: 'B', branch: 'occupied_hit', after: ['B', 'C'] },
];

describe('sticky-sessions 3.7 traces', () => {
  it('delegate stays on the newest', () => {
    play({ policy: 'passthrough' }, PIN, DELEGATE_TRACE);
  });

  it.each<AssignmentMode>(['random', 'min_load', 'min_group'])('%s returns to the oldest', (mode) => {
    play({ policy: 'passthrough', mode }, PIN, OTHER_TRACE);
  });

  it.each<AssignmentMode>(['random', 'min_load', 'min_group', 'delegate'])('manual in mode %s returns too', (mode) => {
    play({ policy: 'manual', mode }, 'manual:s:conv', OTHER_TRACE);
  });

  it('policies 1.10: w1, w2 down, then all up again goes to w2', () => {
    play({ policy: 'manual' }, 'manual:s:conv', [
      ...OTHER_TRACE.slice(0, 3),
      { down: ['A', 'B'], worker: 'C', branch: 'occupied_miss', after: ['B', 'C'] },
      { down: [], worker: 'B', branch: 'occupied_hit', after: ['B', 'C'] },
    ]);
  });
});

/** A router whose key `conv` is pinned to the given candidates, with requests of it in flight. */
function pinned(
  options: DriverOptions,
  { candidates }: { candidates: readonly string[] },
  inFlight: Readonly<Record<string, number>>,
): RouterDriver {
  const driver = new RouterDriver(new TestFleet(['A', 'B', 'C']), options);
  driver.pins.put(PIN, candidates, 0, 0);
  for (const [id, count] of Object.entries(inFlight)) driver.fleet.load(id).begin('conv', count);
  return driver;
}

/** A policy that always picks one worker, as far as it is asked. */
function always(id: string): DriverOptions {
  return {
    policy: {
      name: 'least_load',
      facts: POLICY_FACTS.least_load,
      memory: null,
      pick: ({ candidates }) => candidates.find((worker) => worker.id === id) ?? null,
      next: () => null,
    },
  };
}

describe('sticky-sessions 3.7 cap, candidates [A, C], two in flight on A', () => {
  it.each([
    { picks: 'A', inFlight: { A: 2 }, after: ['A', 'C'] },
    { picks: 'B', inFlight: { A: 2 }, after: ['B', 'A'] },
    { picks: 'C', inFlight: { A: 2, C: 2 }, after: ['A', 'C'] },
    { picks: 'C', inFlight: { A: 2, C: 1 }, after: ['C', 'A'] },
  ])('the policy picks $picks with $inFlight: $after', ({ picks, inFlight, after }) => {
    const driver = pinned(always(picks), ON_A, inFlight);

    const decision = driver.place({ key: 'conv' });

    expect(decision.worker.id).toBe(picks);
    expect(decision.trail.stickyBranch).toBe('cap_respill');
    expect(driver.candidates(PIN)).toEqual(after);
  });

  it('puts the new one in front in the other modes as well', () => {
    const driver = pinned({ policy: 'passthrough', mode: 'min_load' }, ON_A, { A: 2 });

    expect(driver.place({ key: 'conv' }).worker.id).toBe('B');
    expect(driver.candidates(PIN)).toEqual(['B', 'A']);
  });

  it('fails when the policy declines, and keeps the pin', () => {
    const driver = pinned(always('nobody'), ON_A, { A: 2 });

    const outcome = driver.route({ key: 'conv' });

    expect([outcome.kind, outcome.trail.stickyBranch]).toEqual(['refused', 'cap_respill']);
    expect(driver.candidates(PIN)).toEqual(['A', 'C']);
  });
});

describe('sticky-sessions 3.5 in-flight trigger', () => {
  it('is not reached by one request', () => {
    expect(pinned(always('B'), ON_A, { A: 1 }).place({ key: 'conv' }).worker.id).toBe('A');
  });

  it('does not count other keys', () => {
    const driver = pinned(always('B'), ON_A, {});
    driver.fleet.load('A').begin('another', 50);
    driver.fleet.load('A').begin(null, 50);

    const decision = driver.place({ key: 'conv' });

    expect([decision.worker.id, decision.trail.stickyBranch]).toEqual(['A', 'occupied_hit']);
  });

  it('is off when the key drains below it', () => {
    const driver = pinned(always('A'), ON_A, { A: 2 });
    expect(driver.place({ key: 'conv' }).trail.stickyBranch).toBe('cap_respill');

    driver.fleet.load('A').end('conv');

    expect(driver.place({ key: 'conv' }).trail.stickyBranch).toBe('occupied_hit');
  });

  it('leaves a single worker where it is, as cap_respill', () => {
    const driver = new RouterDriver(new TestFleet(['A']));
    for (let i = 0; i < 2; i++) driver.hold({ key: 'conv' });

    const third = driver.place({ key: 'conv' });

    expect([third.worker.id, third.trail.stickyBranch]).toEqual(['A', 'cap_respill']);
    expect(driver.candidates(PIN)).toEqual(['A']);
  });

  it('spreads without moving the pin when every worker holds two', () => {
    const driver = pinned({ policy: 'round_robin' }, ON_A, { A: 2, B: 2, C: 2 });

    const ids = [1, 2, 3].map(() => driver.place({ key: 'conv' }).worker.id);

    expect(ids).toEqual(['A', 'B', 'C']);
    expect(driver.candidates(PIN)).toEqual(['A', 'C']);
  });

  it('leaves the pin with the new worker when the old one drains of requests', () => {
    const driver = pinned(always('B'), ON_A, { A: 2 });
    driver.place({ key: 'conv' });

    driver.fleet.load('A').end('conv', 2);

    expect(driver.place({ key: 'conv' }).worker.id).toBe('B');
  });

  it('places the third of three at once again, and the fourth follows it', () => {
    const driver = new RouterDriver(new TestFleet(['A', 'B', 'C']));

    const ids = [1, 2, 3, 4].map(() => driver.hold({ rid: 'conv' }).decision.worker.id);

    expect(ids).toEqual(['A', 'A', 'B', 'B']);
  });

  it.each([
    { cap: 0, third: 'A', branch: 'occupied_hit' },
    { cap: 1, third: 'B', branch: 'cap_respill' },
    { cap: 3, third: 'A', branch: 'occupied_hit' },
  ])('of $cap sends a request with two in flight to $third', ({ cap, third, branch }) => {
    const decision = pinned({ ...always('B'), inflightCap: cap }, ON_A, { A: 2 }).place({ key: 'conv' });

    expect([decision.worker.id, decision.trail.stickyBranch]).toEqual([third, branch]);
  });

  it('does not exist under manual', () => {
    const driver = new RouterDriver(new TestFleet(['A', 'B']), { policy: 'manual', mode: 'min_load' });

    const ids = [1, 2, 3, 4, 5].map(() => driver.hold({ key: 'conv' }).decision.worker.id);

    expect(ids).toEqual(['A', 'A', 'A', 'A', 'A']);
  });
});

describe('policies 1.11 w1, w2, round_robin below, key c', () => {
  const start = () => new RouterDriver(new TestFleet(['w1', 'w2']));
  const at = (driver: RouterDriver) => {
    const decision = driver.place({ key: 'c' });
    return [decision.worker.id, decision.trail.stickyBranch, driver.candidates('7:unknown:s:c')];
  };

  it('pins the first request, and the next goes there, also with 50 others in flight', () => {
    const driver = start();

    expect(at(driver)).toEqual(['w1', 'vacant', ['w1']]);
    driver.fleet.load('w1').begin('other', 50);
    expect(at(driver)).toEqual(['w1', 'occupied_hit', ['w1']]);
  });

  it('moves the pin when round robin goes to w2 with two of c on w1', () => {
    const driver = start();
    at(driver);
    driver.fleet.load('w1').begin('c', 2);

    expect(at(driver)).toEqual(['w2', 'cap_respill', ['w2', 'w1']]);
  });

  it('goes where round robin says with two of c on both, and keeps the pin', () => {
    const driver = start();
    at(driver);
    driver.fleet.load('w1').begin('c', 2);
    driver.fleet.load('w2').begin('c', 2);

    expect(at(driver)).toEqual(['w2', 'cap_respill', ['w1']]);
    expect(at(driver)).toEqual(['w1', 'cap_respill', ['w1']]);
  });

  it('goes to w2 when w1 is out, and the list is [w2, w1]', () => {
    const driver = start();
    at(driver);
    driver.fleet.set('down', 'w1');

    expect(at(driver)).toEqual(['w2', 'occupied_miss', ['w2', 'w1']]);
  });
});

describe('sticky-sessions 3.4 available', () => {
  it('serves the keys of a draining worker, and gives it no new ones', () => {
    const driver = pinned({ policy: 'passthrough' }, ON_A, {});
    driver.fleet.set('draining', 'A');

    expect(driver.place({ key: 'conv' }).worker.id).toBe('A');
    expect(driver.place({ key: 'new' }).worker.id).toBe('B');
    expect(driver.place({}).worker.id).toBe('B');
  });

  it('moves a key off a draining worker when it has too many in flight', () => {
    const driver = pinned({ policy: 'passthrough' }, { candidates: ['A'] }, { A: 2 });
    driver.fleet.set('draining', 'A');

    expect(driver.place({ key: 'conv' }).worker.id).toBe('B');
    expect(driver.candidates(PIN)).toEqual(['B', 'A']);
  });

  it('serves the keys of the last worker while it drains, and refuses others', () => {
    const driver = pinned({ policy: 'round_robin' }, ON_A, {});
    driver.fleet.set('down', 'B', 'C');
    driver.fleet.set('draining', 'A');

    expect(driver.place({ key: 'conv' }).worker.id).toBe('A');
    driver.fleet.load('A').begin('conv', 2);
    expect(driver.place({ key: 'conv' }).trail.stickyBranch).toBe('cap_respill');
    const other = driver.route({ key: 'new' });
    expect([other.kind, other.trail.stickyBranch]).toEqual(['refused', 'no_healthy_workers']);
  });

  it('passes over a candidate that left, and finds it when it returns', () => {
    const driver = pinned({ policy: 'passthrough' }, ON_A, {});
    const gone = driver.fleet.worker('A');

    driver.fleet.remove('A');
    expect(driver.place({ key: 'conv' }).worker.id).toBe('C');
    driver.fleet.add(gone);

    expect(driver.place({ key: 'conv' }).worker.id).toBe('A');
  });

  it('ignores a candidate that serves another model', () => {
    const driver = new RouterDriver(new TestFleet(['A', 'B']), { policy: 'passthrough' });
    driver.fleet.add({ ...driver.fleet.worker('A'), id: 'X', models: ['other'] });
    driver.pins.put('1:m:s:conv', ['X'], 0, 0);

    const decision = driver.place({ key: 'conv', model: 'm' });

    expect([decision.worker.id, decision.trail.stickyBranch]).toEqual(['A', 'occupied_miss']);
  });

  it('does not touch the map when nobody is available', () => {
    const driver = pinned({ policy: 'round_robin' }, ON_A, {});
    driver.fleet.set('down', 'A', 'B', 'C');
    driver.now = 500;

    const outcome = driver.route({ rid: 'conv' });

    expect(outcome).toMatchObject({
      kind: 'refused',
      reason: 'no_available_workers',
      trail: { stickyBranch: 'no_healthy_workers', keySource: 'rid' },
    });
    expect(driver.pins.list(9, null, 500).pins[0]?.idleMs).toBe(500);
  });

  it('writes no pin when the policy declines', () => {
    const driver = new RouterDriver(new TestFleet(['A']), always('nobody'));

    expect(driver.route({ key: 'conv' }).kind).toBe('refused');
    expect(driver.pins.size).toBe(0);
  });
});

describe('sticky-sessions 3.11 refresh', () => {
  it.each([
    { what: 'a hit', down: [] as string[] },
    { what: 'a stale look-up', down: ['A', 'C'] },
  ])('moves the last use with $what, before any commit', ({ down }) => {
    const driver = pinned({ policy: 'passthrough' }, ON_A, {});
    driver.fleet.set('down', ...down);
    driver.now = 700;

    driver.decide({ key: 'conv' });

    expect(driver.pins.list(9, null, 700).pins[0]?.idleMs).toBe(0);
  });
});
