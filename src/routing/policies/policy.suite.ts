import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makePool, makeWorker, type TestLoad } from '../../../test/support/fleet.ts';
import { makeReporting, report } from '../../../test/support/load-report.ts';
import { makeRequest, type RequestParts } from '../../../test/support/routing.ts';
import type { Worker } from '../../workers/worker.ts';
import { newTrail } from '../decision.ts';
import { startOf } from '../next-by-key.ts';
import type { Placement, Policy } from '../policy.ts';
import { type Rehearsal, WEIGHT_NAMES } from '../rehearsal.ts';

export function makePlacement(members: readonly Worker[], parts: RequestParts = {}, random = () => 0): Placement {
  const pool = makePool(members);
  return {
    request: makeRequest(parts),
    pool,
    candidates: pool.available,
    now: 0,
    random,
    trail: newTrail(),
    keyStart: parts.key === undefined ? -1 : startOf(String(parts.key)),
    rehearsal: null,
  };
}

/** Takes back at its end what had to change. */
class QuietRehearsal implements Rehearsal {
  readonly #undo: (() => void)[] = [];

  placing(): void {}

  changed(undo: () => void): void {
    this.#undo.push(undo);
  }

  end(): void {
    for (const undo of this.#undo.reverse()) undo();
  }
}

/** What every placement policy must do. `create` answers with a fresh one. */
export function policySuite(name: string, create: () => Policy): void {
  const reported = fc.record({
    waitingRequests: fc.nat(100),
    waitingUncachedTokens: fc.nat(10_000),
    genThroughput: fc.nat(500),
    tokenUsage: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const state = fc.record({ up: fc.boolean(), requests: fc.nat(5), engine: fc.option(reported) });
  const fleet = fc
    .array(state, { minLength: 1, maxLength: 6 })
    .filter((workers) => workers.some(({ up }) => up))
    .map((workers) =>
      workers.map(({ up, requests, engine }, i) => ({
        ...makeReporting(`http://w${i}:8000`, engine, requests),
        placeable: up,
      })),
    );
  const prompt = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => ({ text })),
    fc.uint32Array({ minLength: 1, maxLength: 40 }).map((tokens) => ({ tokens })),
  );
  const parts = fc.record({ key: fc.string(), prompt }, { requiredKeys: [] });
  const draw = fc.noShrink(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));

  describe(`${name} is a placement policy`, () => {
    it('says its name', () => {
      expect(create().name).toBe(name);
    });

    it('only ever picks a candidate', () => {
      fc.assert(
        fc.property(fleet, fc.array(fc.tuple(parts, draw), { maxLength: 10 }), (members, requests) => {
          const policy = create();
          for (const [request, value] of requests) {
            const placement = makePlacement(members, request, () => value);

            expect(placement.candidates).toContain(policy.pick(placement));
          }
        }),
      );
    });

    it('only ever picks a candidate of a fleet that changes', () => {
      const change = fc.record({ at: fc.nat(5), state, parts, draw, wait: fc.nat(6000) });
      fc.assert(
        fc.property(fleet, fc.array(change, { maxLength: 20 }), (members, changes) => {
          const policy = create();
          const workers = [...members];
          let joined = 0;
          let now = 0;
          for (const {
            at,
            state: { up, requests, engine },
            parts: request,
            draw: value,
            wait,
          } of changes) {
            const known = workers[at];
            const left = known !== undefined && !up && requests === 0;
            if (left) workers.splice(at, 1);
            else if (known === undefined) workers.push(makeReporting(`http://new${joined++}:8000`, engine, requests));
            else workers[at] = { ...known, placeable: up };
            if (known !== undefined && engine !== null) report(known, engine);
            now += wait;
            const placement = { ...makePlacement(workers, request, () => value), now };
            if (placement.candidates.length === 0) continue;
            const picked = policy.pick(placement);

            expect(placement.candidates).toContain(picked);
            (picked!.load as TestLoad).begin();
            const next = policy.next(placement, [picked!]);
            expect(next).not.toBe(picked);
            expect([null, ...placement.candidates]).toContain(next);
          }
        }),
      );
    });

    it('picks the only candidate', () => {
      const only = makeWorker('http://only:8000');
      const placement = makePlacement([makeWorker('http://down:8000', { placeable: false }), only]);

      expect(create().pick(placement)).toBe(only);
    });

    it('goes on to each other candidate once, then to nobody', () => {
      fc.assert(
        fc.property(fleet, parts, draw, (members, request, value) => {
          const policy = create();
          const placement = makePlacement(members, request, () => value);
          const taken = [policy.pick(placement)!];
          for (let next = policy.next(placement, taken); next !== null; next = policy.next(placement, taken)) {
            expect(taken).not.toContain(next);
            taken.push(next);
          }

          expect(taken).toHaveLength(placement.candidates.length);
          expect(new Set(taken)).toEqual(new Set(placement.candidates));
        }),
      );
    });

    it('goes on from a worker that is no candidate', () => {
      const drains = makeWorker('http://drains:8000', { placeable: false });
      const up = makeWorker('http://up:8000');

      expect(create().next(makePlacement([drains, up]), [drains])).toBe(up);
      expect(create().next(makePlacement([drains]), [drains])).toBeNull();
    });

    it('tells in a rehearsal whom it picks next, and changes nothing by that', () => {
      const rounds = fc.array(fc.record({ parts, draw, wait: fc.nat(6000), asked: fc.nat(3) }), { maxLength: 8 });
      fc.assert(
        fc.property(fleet, rounds, (members, all) => {
          const [asked, plain] = [create(), create()];
          const [before, after] = [[] as unknown[], [] as unknown[]];
          let now = 0;
          for (const { parts: request, draw: value, wait, asked: times } of all) {
            now += wait;
            // Pools of a fleet keep their lists, which policies go by.
            const real = { ...makePlacement(members, request, () => value), now };
            const picked = plain.pick(real);
            after.push(picked?.id, plain.next(real, [picked!])?.id, real.trail);
            for (let i = 0; i < times; i++) {
              const rehearsed = {
                ...makePlacement(members, request, () => value),
                now,
                rehearsal: new QuietRehearsal(),
              };
              asked.weigh?.(rehearsed);
              const sizes = JSON.stringify(asked.memory?.sizes() ?? null);
              expect(asked.pick(rehearsed)?.id).toBe(picked?.id);
              expect(asked.next(rehearsed, [picked!])?.id).toBe(after.at(-2));
              expect(rehearsed.trail).toEqual(real.trail);
              rehearsed.rehearsal.end();
              expect(JSON.stringify(asked.memory?.sizes() ?? null)).toBe(sizes);
            }
            const again = { ...makePlacement(members, request, () => value), now };
            const [same, other] = [asked.pick(again), asked.next(again, [picked!])];
            before.push(same?.id, other?.id, again.trail);
          }

          expect(before).toEqual(after);
          expect(asked.memory?.sizes()).toEqual(plain.memory?.sizes());
        }),
      );
    });

    it('weighs each candidate', () => {
      fc.assert(
        fc.property(fleet, parts, (members, request) => {
          const placement = makePlacement(members, request);
          for (const { name: of, values } of create().weigh?.({ ...placement, rehearsal: new QuietRehearsal() }) ??
            []) {
            expect(WEIGHT_NAMES).toContain(of);
            expect(values).toHaveLength(placement.candidates.length);
            for (const value of values) expect(value === null || Number.isFinite(value)).toBe(true);
          }
        }),
      );
    });

    it('changes nothing by going on', () => {
      fc.assert(
        fc.property(fleet, parts, fc.nat(5), (members, request, asked) => {
          const [one, other] = [create(), create()];
          const picks = { one: [] as (string | undefined)[], other: [] as (string | undefined)[] };
          for (let i = 0; i < 4; i++) {
            const placement = makePlacement(members, request, () => 0.5);
            const picked = one.pick(placement);
            picks.one.push(picked?.id);
            const before = { ...placement.trail };
            for (let k = 0; k < asked; k++) one.next(placement, [picked!]);
            expect(placement.trail).toEqual(before);
            picks.other.push(other.pick(makePlacement(members, request, () => 0.5))?.id);
          }

          expect(picks.one).toEqual(picks.other);
        }),
      );
    });
  });
}
