import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { type Companion, InFlightLedger, type LogStreams } from './in-flight-ledger.ts';
import { LoadCounter } from './load-counter.ts';

const OPEN: LogStreams = { logStreams: 1, lastLogStreamClosedAt: null };

function setUp(companion: Companion | null = null) {
  const ledger = new InFlightLedger();
  const worker = makeWorker('a', { load: new LoadCounter() });
  const open = (periodicLogMs: number) =>
    ledger.open({
      pickId: '1',
      worker,
      loadKey: null,
      pinKey: null,
      model: 'm',
      endpoint: 'chat',
      now: 0,
      periodicLogMs,
      companion,
    });
  return { ledger, worker, open };
}

describe('what goes on beside a request', () => {
  it.each<[string, (ledger: InFlightLedger) => void]>([
    ['its log entry', (ledger) => void ledger.end('1')],
    ['the end of its stream', (ledger) => void ledger.release('1')],
    ['both', (ledger) => void (ledger.release('1') && ledger.end('1'))],
    ['a net', (ledger) => void ledger.sweep(10_000_000, OPEN)],
  ])('ends once with %s', (_, end) => {
    let released = 0;
    const { ledger, open } = setUp({ released: () => released++ });
    open(0);
    expect(released).toBe(0);
    end(ledger);
    expect(released).toBe(1);
  });

  it('may end another pick', () => {
    const { ledger, worker, open } = setUp({ released: () => void ledger.end('1/prefill') });
    open(0);
    const { pickId: _, ...facts } = ledger.get('1')!;
    ledger.open({ ...facts, pickId: '1/prefill', now: 0, periodicLogMs: 0, companion: null });
    expect(worker.load.requests).toBe(2);
    ledger.sweep(10_000_000, OPEN);
    expect([worker.load.requests, ledger.inFlight]).toEqual([0, 0]);
  });
});

describe('a pick that waits before it goes out', () => {
  it('has no log entries until then', () => {
    const { ledger, worker, open } = setUp();
    open(0);
    for (const now of [0, 40_000, 80_000]) ledger.sweep(now, OPEN);
    expect(worker.load.requests).toBe(1);

    ledger.dispatched('1', 80_000, 10_000);
    ledger.sweep(109_999, OPEN);
    expect(worker.load.requests).toBe(1);
    ledger.sweep(110_000, OPEN);
    expect([worker.load.requests, ledger.releases.periodic_lost]).toEqual([0, 1]);
  });

  it('may have ended meanwhile', () => {
    const { ledger, open } = setUp();
    open(0);
    ledger.release('1');
    ledger.dispatched('1', 1, 10_000);
    ledger.dispatched('unknown', 1, 10_000);
    expect(ledger.inFlight).toBe(0);
  });
});
