/**
 * The protocol of shared pins, played over and over with everything that can go wrong (docs/adr/0025). A run follows from its
 * seed alone; one that fails is shortened, and told step by step:
 *
 *     SEED=123 npx vitest run test/unit/pin-protocol.test.ts            this run again
 *     SEED=123 ACTS=4,7 npx vitest run test/unit/pin-protocol.test.ts   only these acts of its schedule
 *     RUNS=200000 FIRST=1 npx vitest run test/unit/pin-protocol.test.ts   many runs
 *     ORDERS=all npx vitest run test/unit/pin-protocol.test.ts          small programs in every order
 */
import { describe, expect, it } from 'vitest';
import { everyOrder } from '../support/simulation/every-order.ts';
import { report, shortened, simulate } from '../support/simulation/simulate.ts';
import type { Operation, SmallProgram, SmallWorld } from '../support/simulation/small-world.ts';

const { SEED, ACTS, RUNS, FIRST, ORDERS } = process.env;
const LONG = 7_200_000;
const KNOWN_SEEDS = 700;
const NEW_SEEDS = 200;
const someSeed = Math.floor(Math.random() * 1e9);

if (SEED !== undefined) {
  describe('decisions 6: one run of replicas that share pins', () => {
    it(`holds with seed ${SEED}`, { timeout: LONG }, async () => {
      const only = ACTS === undefined ? null : new Set(ACTS.split(',').map(Number));
      const failure = await simulate(Number(SEED), only);
      if (failure !== null) expect.fail(report(await shortened(failure)));
    });
  });
} else {
  describe('decisions 6: replicas that share pins', () => {
    it.each([
      { runs: Number(RUNS ?? KNOWN_SEEDS), first: Number(FIRST ?? 1) },
      { runs: NEW_SEEDS, first: someSeed },
    ])('hold what they promise in $runs runs from seed $first on', { timeout: LONG }, async ({ runs, first }) => {
      for (let seed = first; seed < first + runs; seed++) {
        const failure = await simulate(seed);
        if (failure !== null) expect.fail(report(await shortened(failure)));
      }
    });
  });

  describe('decisions 6: two replicas and one key, in every order of steps', () => {
    const OPERATIONS: readonly Operation[] = ['turn', 'move', 'delete', 'gap'];
    const pairs = OPERATIONS.flatMap((a) => OPERATIONS.map((b) => [a, b] as const));
    const apart = pairs.map(([a, b]) => [[a], [b]]);
    const spread = [...apart, ...pairs.map((both) => [both, []])];
    const turns: readonly (readonly (readonly Operation[])[])[] = [
      [['turn'], ['turn']],
      [['turn', 'turn'], ['turn']],
      [['turn', 'move'], ['turn']],
    ];

    const programs = (operations: SmallProgram['operations'], late: boolean, lossy: boolean): SmallProgram[] =>
      [false, true].map((known) => ({ operations, known, late, lossy }));

    const few = ORDERS === undefined;
    it.each([
      { what: 'two operations', all: few ? apart : spread, late: false, lossy: false },
      { what: 'three turns and moves', all: turns, late: false, lossy: false },
      { what: 'a late answer', all: few ? turns.slice(0, 1) : spread, late: true, lossy: false },
      { what: 'a lost change', all: few ? turns.slice(0, 2) : spread, late: false, lossy: true },
    ])('agree in the end, and give turns one place: $what', { timeout: LONG }, async ({ all, late, lossy }) => {
      for (const program of all.flatMap((operations) => programs(operations, late, lossy))) {
        const { orders, failure } = await everyOrder(program, (world) => onePlace(program, world));
        expect(failure).toBeNull();
        expect(orders).toBeGreaterThan(0);
      }
    });
  });

  /** Turns of a key that nobody moves or deletes, at a store that is waited for. */
  function onePlace({ operations, late }: SmallProgram, { served }: SmallWorld): void {
    const left = operations.flat();
    if (late || left.includes('move') || left.includes('delete')) return;
    const places = new Set(served.map(({ candidates }) => candidates.join()));
    if (places.size > 1) throw new Error(`turns went to ${[...places].join(' and ')}`);
  }
}
