import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ModelReplica, ReplicaBench } from '../../test/support/replica-bench.ts';

const WORKERS = ['u', 'v', 'w'];
const KEYS = ['a', 'b', 'c', 'd'];

type Step =
  | { readonly do: 'begin'; readonly at: number; readonly worker: number; readonly key: number }
  | { readonly do: 'end'; readonly at: number; readonly which: number }
  | { readonly do: 'renew'; readonly at: number; readonly worker: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'lose'; readonly share: number }
  | { readonly do: 'cut' | 'mend' | 'replace' | 'leave'; readonly at: number };

const at = fc.nat({ max: 2 });
const worker = fc.nat({ max: WORKERS.length - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('begin' as const), at, worker, key: fc.nat({ max: KEYS.length }) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('end' as const), at, which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('renew' as const), at, worker }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(10, 50, 60, 300, 1200, 3300) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), share: fc.constantFrom(0, 2, 3, 1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cut' as const, 'mend', 'replace', 'leave'), at }) },
);

class Trace {
  readonly bench = new ReplicaBench();
  #messages = 0;

  constructor() {
    for (let i = 0; i < 3; i++) this.bench.start();
    this.bench.pass(100);
  }

  run(each: Step): void {
    const { bench } = this;
    if (each.do === 'pass') bench.pass(each.ms);
    else if (each.do === 'lose') bench.hub.loses = () => each.share > 0 && this.#messages++ % each.share === 0;
    else this.#at(each, bench.replicas[each.at]!);
    this.#neverNegative();
  }

  heal(): void {
    this.bench.hub.loses = () => false;
    for (const { channel } of this.bench.replicas) channel.cut = false;
    this.bench.pass(6000);
  }

  check(): void {
    const { replicas } = this.bench;
    const sum = (count: (replica: ModelReplica) => number): number =>
      replicas.reduce((total, replica) => total + count(replica), 0);
    for (const id of WORKERS) {
      const truth = {
        requests: sum((replica) => replica.counter(id).ownRequests),
        distinctKeys: sum((replica) => replica.counter(id).ownDistinctKeys),
      };
      for (const replica of replicas) expect(replica.counter(id)).toMatchObject(truth);
      for (const key of KEYS) {
        const open = sum((replica) => ownOf(replica, id, key));
        for (const replica of replicas) expect(replica.counter(id).ofKey(key), `${id} ${key}`).toBe(open);
      }
    }
  }

  #at(each: Exclude<Step, { do: 'pass' | 'lose' }>, replica: ModelReplica): void {
    const { bench } = this;
    if (each.do === 'begin') replica.begin(WORKERS[each.worker]!, KEYS[each.key] ?? null);
    else if (each.do === 'end') replica.end(each.which);
    else if (each.do === 'renew') replica.renew(WORKERS[each.worker]!);
    else if (each.do === 'cut' || each.do === 'mend') replica.channel.cut = each.do === 'cut';
    else {
      if (each.do === 'leave') replica.sharing.close();
      bench.kill(replica);
      bench.start();
    }
  }

  #neverNegative(): void {
    for (const replica of this.bench.replicas) {
      for (const id of WORKERS) {
        const { remote } = replica.loads.of(id);
        expect(Math.min(remote.requests, remote.distinctKeys, ...KEYS.map((key) => remote.ofKey(key)))).toBe(
          Math.max(0, Math.min(remote.requests, remote.distinctKeys, ...KEYS.map((key) => remote.ofKey(key)))),
        );
      }
    }
  }
}

/** Requests of a key that count on the present instance. */
function ownOf(replica: ModelReplica, id: string, key: string): number {
  const counter = replica.counter(id);
  return replica.open.filter((request) => request.counter === counter && request.key === key).length;
}

describe('loads of three replicas, with losses, partitions, deaths and restarts', () => {
  it('are never negative, and come to the truth when it is quiet again', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const trace = new Trace();
        for (const each of steps) trace.run(each);
        trace.heal();
        trace.check();
      }),
      { numRuns: 150 },
    );
  });

  it('leave nothing behind when all requests have ended', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const trace = new Trace();
        for (const each of steps) trace.run(each);
        for (const replica of trace.bench.replicas) while (replica.open.length > 0) replica.end(0);
        trace.heal();
        for (const { loads } of trace.bench.replicas) {
          for (const id of WORKERS) expect(loads.of(id).remote.isEmpty).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('turns of one conversation, each after the end of the one before, at any of three replicas', () => {
  // The trigger for a new place is two (sticky-sessions 3.9).
  it('never look like two requests at a time, with up to 40 ms from one replica to the others', () => {
    const turn = fc.record({ at, tens: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 12 })) });
    fc.assert(
      fc.property(
        fc.array(turn, { maxLength: 25 }),
        fc.array(fc.constantFrom(0, 10, 20, 40), { minLength: 3, maxLength: 3 }),
        (turns, delays) => {
          const bench = new ReplicaBench();
          const replicas = [bench.start(), bench.start(), bench.start()];
          bench.pass(200);
          bench.hub.delayOf = (from) => delays[Number(from) - 1] ?? 0;
          for (const { at: index, tens } of turns) {
            const replica = replicas[index]!;
            expect(replica.counter('w').ofKey('k')).toBeLessThan(2);
            replica.begin('w', 'k');
            bench.pass(tens * 10);
            replica.end(0);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
