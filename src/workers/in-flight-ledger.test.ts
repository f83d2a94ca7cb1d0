import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { InFlightLedger, type LedgerOptions, type LogStreams } from './in-flight-ledger.ts';
import { LoadCounter } from './load-counter.ts';
import type { Worker } from './worker.ts';

const OPEN: LogStreams = { logStreams: 1, lastLogStreamClosedAt: null };
const NEVER: LogStreams = { logStreams: 0, lastLogStreamClosedAt: null };
const NOTHING = { end: 0, stream: 0, periodic_lost: 0, log_gone: 0, age: 0 };

function setUp(options: LedgerOptions = {}) {
  const a = makeWorker('a', { load: new LoadCounter() });
  const b = makeWorker('b', { load: new LoadCounter() });
  const ledger = new InFlightLedger({ workerById: (id) => [a, b].find((worker) => worker.id === id), ...options });
  const open = (pickId: string, now = 0, periodicLogMs = 0, worker: Worker = a) =>
    ledger.open({ pickId, worker, loadKey: 'k', pinKey: 'p', model: 'm', endpoint: 'chat', now, periodicLogMs });
  return { a, b, ledger, open };
}

describe('decisions 7 release exactly once', () => {
  it('counts from open to end', () => {
    const { a, ledger, open } = setUp();

    open('1');
    open('2');
    expect([a.load.requests, a.load.ofKey('k'), ledger.inFlight, ledger.opened]).toEqual([2, 2, 2, 2]);

    expect(ledger.end('1')).toMatchObject({ pickId: '1', worker: a, loadKey: 'k', pinKey: 'p', model: 'm' });
    expect(ledger.end('1')).toBeUndefined();
    expect([a.load.requests, ledger.inFlight, ledger.releases.end]).toEqual([1, 1, 1]);
  });

  it('keeps the facts of a released pick for its log entry', () => {
    const { a, ledger, open } = setUp();
    open('1');

    expect(ledger.release('1')).toBe(true);
    expect(ledger.release('1')).toBe(false);
    expect([a.load.requests, ledger.inFlight, ledger.kept]).toEqual([0, 0, 1]);

    expect(ledger.end('1')).toMatchObject({ pickId: '1', released: true });
    expect([a.load.requests, ledger.kept]).toEqual([0, 0]);
    expect(ledger.releases).toEqual({ ...NOTHING, stream: 1 });
  });

  it('keeps facts no longer than their time', () => {
    const { ledger, open } = setUp({ keepMs: 1_000 });
    open('1', 0);
    ledger.release('1');

    ledger.sweep(999, OPEN);
    expect(ledger.get('1')).toBeDefined();
    ledger.sweep(1_000, OPEN);
    expect([ledger.get('1'), ledger.kept]).toEqual([undefined, 0]);
  });

  it('keeps no more facts than its bound, the latest ones', () => {
    const { ledger, open } = setUp({ keepMax: 2 });
    for (const id of ['1', '2', '3']) {
      open(id);
      ledger.release(id);
    }

    expect([ledger.kept, ledger.end('1'), ledger.end('3')?.pickId]).toEqual([2, undefined, '3']);
  });

  it('keeps nothing with a bound of 0', () => {
    const { a, ledger, open } = setUp({ keepMax: 0 });
    open('1');

    expect(ledger.end('1')?.pickId).toBe('1');
    expect([ledger.kept, ledger.inFlight, a.load.requests]).toEqual([0, 0, 0]);
  });

  it('ends the earlier pick when an id comes twice', () => {
    const { a, ledger, open } = setUp();

    open('1');
    open('1');

    expect([a.load.requests, ledger.inFlight]).toEqual([1, 1]);
  });

  it('answers nothing for a pick it does not know', () => {
    const { ledger } = setUp();

    expect([ledger.end('x'), ledger.release('x'), ledger.alive('x', 0)]).toEqual([undefined, false, false]);
  });
});

describe('sticky-sessions 3.10 a unit belongs to the worker that holds the request', () => {
  it('moves the count when a log entry names another worker', () => {
    const { a, b, ledger, open } = setUp();
    open('1');

    ledger.alive('1', 1, 'b');
    expect([a.load.requests, b.load.requests, ledger.get('1')?.worker.id]).toEqual([0, 1, 'a']);

    ledger.end('1');
    expect([a.load.requests, b.load.requests]).toEqual([0, 0]);
  });

  it('leaves the count where it is for a worker nobody knows', () => {
    const { a, ledger, open } = setUp();
    open('1');

    ledger.alive('1', 1, 'gone');

    expect(a.load.requests).toBe(1);
  });

  it('counts nothing anew for a released pick', () => {
    const { a, b, ledger, open } = setUp();
    open('1');
    ledger.release('1');

    ledger.alive('1', 1, 'b');

    expect([a.load.requests, b.load.requests]).toEqual([0, 0]);
  });
});

describe('decisions 7 nets', () => {
  it('releases a pick without a sign for three intervals while a log stream lives', () => {
    const { ledger, open } = setUp();
    ledger.sweep(0, OPEN);
    open('1', 0, 10_000);
    open('2', 0, 10_000);
    ledger.alive('1', 10_000);

    expect(ledger.sweep(29_999, OPEN)).toEqual(NOTHING);
    expect(ledger.sweep(30_000, OPEN)).toEqual({ ...NOTHING, periodic_lost: 1 });
    expect(ledger.sweep(39_999, OPEN)).toEqual(NOTHING);
    expect(ledger.sweep(40_000, OPEN)).toEqual({ ...NOTHING, periodic_lost: 1 });
    expect(ledger.inFlight).toBe(0);
  });

  it('never releases a pick whose entries keep coming, however old it is', () => {
    const { a, ledger, open } = setUp();
    open('1', 0, 10_000);

    for (let now = 0; now <= 10_000_000; now += 10_000) {
      ledger.alive('1', now);
      ledger.sweep(now, OPEN);
    }

    expect(a.load.requests).toBe(1);
  });

  it('tells picks with different intervals apart', () => {
    const { ledger, open } = setUp();
    ledger.sweep(0, OPEN);
    open('slow', 0, 60_000);
    open('fast', 1, 1_000);

    expect(ledger.sweep(3_001, OPEN).periodic_lost).toBe(1);
    expect(ledger.get('slow')?.released).toBe(false);
  });

  it('does not take silence for an end while the log stream was away within its grace', () => {
    const { ledger, open } = setUp();
    ledger.sweep(0, OPEN);
    open('1', 0, 5_000);

    expect(ledger.sweep(20_000, { logStreams: 0, lastLogStreamClosedAt: 1_000 })).toEqual(NOTHING);
    expect(ledger.sweep(21_000, { logStreams: 1, lastLogStreamClosedAt: 1_000 })).toEqual(NOTHING);
    expect(ledger.sweep(36_000, { logStreams: 1, lastLogStreamClosedAt: 1_000 }).periodic_lost).toBe(1);
  });

  it.each([0, 5_000])('releases picks (interval %i) older than log streams that stay away', (periodicLogMs) => {
    const { ledger, open } = setUp();
    open('before', 1_000, periodicLogMs);
    open('after', 3_000, periodicLogMs);
    const gone = { logStreams: 0, lastLogStreamClosedAt: 2_000 };

    expect(ledger.sweep(32_000, gone)).toEqual(NOTHING);
    expect(ledger.sweep(32_001, gone)).toEqual({ ...NOTHING, log_gone: 1 });
    expect([ledger.get('before')?.released, ledger.get('after')?.released]).toEqual([true, false]);
  });

  it('releases a pick whose promised entries found no stream at all', () => {
    const { ledger, open } = setUp();
    open('1', 0, 5_000);

    expect(ledger.sweep(29_999, NEVER)).toEqual(NOTHING);
    expect(ledger.sweep(30_000, NEVER)).toEqual({ ...NOTHING, log_gone: 1 });
  });

  it.each([OPEN, NEVER])('releases by age only where no periodic entries are promised (%j)', (logs) => {
    const { ledger, open } = setUp({ requestTimeoutMs: 1_800_000, marginMs: 60_000 });
    open('1', 0, 0);

    expect(ledger.sweep(1_859_999, logs)).toEqual(NOTHING);
    expect(ledger.sweep(1_860_000, logs)).toEqual({ ...NOTHING, age: 1 });
  });

  it('is back at 0 within 35 s after 2,000 picks whose ends were lost', () => {
    const { a, ledger, open } = setUp();
    ledger.sweep(0, OPEN);
    for (let i = 0; i < 2_000; i += 1) open(`${i}`, i, 10_000);

    for (let now = 2_000; now <= 2_000 + 33_000; now += 1_000) ledger.sweep(now, OPEN);

    expect([a.load.requests, a.load.distinctKeys, ledger.inFlight]).toEqual([0, 0, 0]);
  });
});

describe('field-lessons R46 any interleaving', () => {
  type Step =
    | { readonly kind: 'open'; readonly id: number; readonly worker: number; readonly periodicLogMs: number }
    | { readonly kind: 'end'; readonly id: number }
    | { readonly kind: 'release'; readonly id: number }
    | { readonly kind: 'alive'; readonly id: number; readonly worker: number }
    | { readonly kind: 'sweep'; readonly streams: number }
    | { readonly kind: 'replace'; readonly worker: number }
    | { readonly kind: 'wait'; readonly ms: number };

  const id = fc.nat(9);
  const worker = fc.nat(2);
  const steps = fc.array(
    fc.oneof<fc.Arbitrary<Step>[]>(
      fc.record({ kind: fc.constant('open' as const), id, worker, periodicLogMs: fc.constantFrom(0, 1_000, 20_000) }),
      fc.record({ kind: fc.constant('end' as const), id }),
      fc.record({ kind: fc.constant('release' as const), id }),
      fc.record({ kind: fc.constant('alive' as const), id, worker }),
      fc.record({ kind: fc.constant('sweep' as const), streams: fc.nat(1) }),
      fc.record({ kind: fc.constant('replace' as const), worker }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 999, 3_000, 31_000, 2_000_000) }),
    ),
    { maxLength: 80 },
  );

  it('never goes below 0, always adds up, and ends at 0', () => {
    fc.assert(
      fc.property(steps, fc.nat(3), (all, keepMax) => {
        const instance = (index: number) => makeWorker(`w${index}`, { load: new LoadCounter() });
        const fleet = [0, 1, 2].map(instance);
        const everyone = [...fleet];
        const ledger = new InFlightLedger({ keepMax, workerById: (name) => fleet.find((each) => each.id === name) });
        let now = 0;
        let closedAt: number | null = null;

        for (const step of all) {
          const name = 'id' in step ? `p${step.id}` : '';
          if (step.kind === 'open') {
            const loadKey = step.id % 3 === 0 ? null : `k${step.id % 3}`;
            const picked = fleet[step.worker]!;
            const { periodicLogMs } = step;
            ledger.open({
              pickId: name,
              worker: picked,
              loadKey,
              pinKey: null,
              model: 'm',
              endpoint: '',
              now,
              periodicLogMs,
            });
          } else if (step.kind === 'end') ledger.end(name);
          else if (step.kind === 'release') ledger.release(name);
          else if (step.kind === 'alive') ledger.alive(name, now, `w${step.worker}`);
          else if (step.kind === 'wait') now += step.ms;
          else if (step.kind === 'replace') {
            fleet[step.worker] = instance(step.worker);
            everyone.push(fleet[step.worker]!);
          } else {
            if (step.streams === 0) closedAt ??= now;
            ledger.sweep(now, { logStreams: step.streams, lastLogStreamClosedAt: closedAt });
          }

          const counted = everyone.reduce((sum, each) => sum + each.load.requests, 0);
          const released = Object.values(ledger.releases).reduce((sum, count) => sum + count, 0);
          expect(counted).toBe(ledger.inFlight);
          expect(ledger.inFlight + released).toBe(ledger.opened);
          expect(ledger.kept).toBeLessThanOrEqual(keepMax);
        }

        for (let i = 0; i < 10; i += 1) ledger.end(`p${i}`);
        expect(ledger.inFlight).toBe(0);
        for (const each of everyone) expect([each.load.requests, each.load.distinctKeys]).toEqual([0, 0]);
      }),
      { numRuns: 300 },
    );
  });
});
