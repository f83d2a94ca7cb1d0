import { describe, expect, it } from 'vitest';
import { PickerBench, urlOf } from '../../test/support/picker-bench.ts';
import type { AssignmentMode } from '../routing/assignment.ts';
import type { RequestEnd } from './request-end.ts';

const KEY = '7:unknown:s:conv';

describe('the end of a request', () => {
  it('releases its count and uses the pin (sticky-sessions P19)', () => {
    const bench = new PickerBench().ready(1);
    const { pickId } = bench.pick({ rid: 'conv' });
    bench.now += 60_000;

    bench.end(pickId, 1);

    expect(bench.worker(1).load).toMatchObject({ requests: 0, distinctKeys: 0 });
    expect(bench.pins.list(1, null, bench.now).pins[0]?.idleMs).toBe(0);
    expect(bench.ledger.releases.end).toBe(1);
  });

  it('told twice, or of a pick that is not ours: counted, no harm', () => {
    const bench = new PickerBench().ready(1);
    const { pickId } = bench.pick(null);

    bench.end(pickId, 1);
    bench.end(pickId, 1);
    bench.end('other-7', 1);

    expect(bench.metrics.logEntries.cell('end').value).toBe(1);
    expect(bench.metrics.logEntries.cell('unknown_pick').value).toBe(2);
    expect(bench.worker(1).load.requests).toBe(0);
  });

  it('of an id that was told before its pick, which nobody made: no answer of a worker is counted', () => {
    const bench = new PickerBench().ready(1);

    bench.end('ahead-1', 0, { status: 404, attempts: 0, codeDetails: 'smg_model_not_found' });
    bench.ends.alive('ahead-2', '', '', 0, bench.now);

    expect(bench.metrics.logEntries.cell('no_pick').value).toBe(2);
    expect(bench.metrics.logEntries.cell('unknown_pick').value).toBe(0);
    expect(bench.metrics.upstreamResponses.cell('http', '404', '').value).toBe(0);
  });

  it('feeds the metrics of answers and retries', () => {
    const bench = new PickerBench().ready(1, 2);

    bench.end(bench.pick(null).pickId, 2, { status: 503, attempts: 3, durationMs: 40 });

    expect(bench.metrics.upstreamResponses.cell('http', '503', '').value).toBe(1);
    expect(bench.metrics.workerRetries.cell('regular', 'chat').value).toBe(2);
    expect(bench.metrics.workerRetriesExhausted.cell('regular', 'chat').value).toBe(0);
    expect(bench.metrics.requestDuration.cell('http', 'regular', 'http', 'unknown', 'chat').sum).toBeCloseTo(0.04);
  });

  it.each([
    [5, true, 1],
    [5, false, 0],
    [1, true, 0],
  ])('%i attempts, used up: %s, counts %i exhausted', (attempts, retriesUsedUp, count) => {
    const bench = new PickerBench().ready(1, 2);

    bench.end(bench.pick(null).pickId, 2, { status: 503, attempts, retriesUsedUp });

    expect(bench.metrics.workerRetriesExhausted.cell('regular', 'chat').value).toBe(count);
  });
});

describe('errors of workers', () => {
  const rows: [string, Partial<RequestEnd>, 'timeout' | 'backend_error' | null][] = [
    ['an answer of 503', { status: 503 }, 'backend_error'],
    ['a broken connection', { status: 503, codeDetails: 'upstream_reset_before_response_started' }, 'backend_error'],
    ['no answer in time', { status: 504, codeDetails: 'response_timeout' }, 'timeout'],
    ['an answer of 504', { status: 504 }, 'timeout'],
    ['an answer of 404', { status: 404 }, null],
    ['a client that left', { status: 503, clientGone: true }, null],
    ['a client that left before an answer', { status: 0, codeDetails: 'downstream_remote_disconnect' }, null],
  ];
  it.each(rows)('%s', (_name, end, expected) => {
    const bench = new PickerBench().ready(1);

    bench.end(bench.pick(null).pickId, 1, end);

    for (const kind of ['timeout', 'backend_error'] as const) {
      expect(bench.metrics.workerErrors.cell('regular', 'http', kind).value).toBe(kind === expected ? 1 : 0);
    }
  });
});

describe('the pin follows the worker that served (decisions 2)', () => {
  const modes: [AssignmentMode, number[]][] = [
    ['delegate', [2, 1]],
    ['min_load', [1, 2]],
    ['random', [1, 2]],
    ['min_group', [1, 2]],
  ];
  it.each(modes)('%s writes it as its own re-placement', (mode, candidates) => {
    const bench = new PickerBench({ mode }).ready(1, 2, 3);

    bench.end(bench.pick({ rid: 'conv' }).pickId, 2, { attempts: 2 });

    expect(bench.pins.peek(KEY)?.candidates).toEqual(candidates.map(urlOf));
    expect(bench.metrics.pinMoves.cell('memory').value).toBe(1);
  });

  it('goes by the address where the entry names no worker', () => {
    const bench = new PickerBench().ready(1, 2);

    bench.end(bench.pick({ rid: 'conv' }).pickId, 2, { workerId: '' });

    expect(bench.pins.peek(KEY)?.candidates[0]).toBe(urlOf(2));
  });

  const stays: [string, number, Partial<RequestEnd>][] = [
    ['the picked worker served', 1, {}],
    ['the last worker failed too', 2, { status: 500 }],
    ['the last worker was full', 2, { status: 429 }],
    ['Envoy answered', 2, { status: 503, codeDetails: 'upstream_reset_before_response_started' }],
    ['nobody answered', 2, { status: 0, codeDetails: 'downstream_remote_disconnect' }],
    ['a worker served that has left the fleet', 9, {}],
  ];
  it.each(stays)('stays when %s', (_name, worker, end) => {
    const bench = new PickerBench().ready(1, 2);

    bench.end(bench.pick({ rid: 'conv' }).pickId, worker, end);

    expect(bench.pins.peek(KEY)?.candidates).toEqual([urlOf(1)]);
    expect(bench.metrics.pinMoves.cell('memory').value).toBe(0);
  });

  it('a 404 of the next worker is an answer', () => {
    const bench = new PickerBench().ready(1, 2);

    bench.end(bench.pick({ rid: 'conv' }).pickId, 2, { status: 404 });

    expect(bench.pins.peek(KEY)?.candidates).toEqual([urlOf(2), urlOf(1)]);
  });

  it('stays when the key was placed anew while the request ran', () => {
    const bench = new PickerBench().ready(1, 2, 3);
    const first = bench.pick({ rid: 'conv' });
    bench.pick({ rid: 'conv' });
    bench.pick({ rid: 'conv' }); // the cap: placed again
    expect(bench.pins.peek(KEY)?.candidates).toEqual([urlOf(2), urlOf(1)]);

    bench.end(first.pickId, 3);

    expect(bench.pins.peek(KEY)?.candidates).toEqual([urlOf(2), urlOf(1)]);
    expect(bench.metrics.pinMoves.cell('memory').value).toBe(0);
  });

  it('a pin that was forgotten meanwhile is not brought back', () => {
    const bench = new PickerBench().ready(1, 2);
    const { pickId } = bench.pick({ rid: 'conv' });
    bench.local.delete(KEY);

    bench.end(pickId, 2);

    expect(bench.pins.peek(KEY)).toBeUndefined();
  });
});

describe('a request that still lives', () => {
  it.each(['id', 'address'])('counts on the worker that serves it now, known by its %s alone', (known) => {
    const bench = new PickerBench().ready(1, 2);
    const { pickId } = bench.pick({ rid: 'conv' });
    const { id, address } = bench.worker(2);

    bench.ends.alive(pickId, known === 'id' ? id : '', known === 'address' ? address : '', 0, bench.now);

    expect(bench.worker(1).load.requests).toBe(0);
    expect(bench.worker(2).load.ofKey('conv')).toBe(1);
    expect(bench.metrics.logEntries.cell('periodic').value).toBe(1);
  });

  it('keeps counting as long as entries come, and not when they stop (decisions 7)', () => {
    const bench = new PickerBench().ready(1);
    bench.ends.logStreamOpened();
    const { pickId } = bench.pick(null);
    for (let seconds = 0; seconds < 120; seconds++) {
      if (seconds % 10 === 0) bench.ends.alive(pickId, '', '', 0, bench.now);
      bench.now += 1000;
      bench.ledger.sweep(bench.now, bench.ends);
    }
    expect(bench.worker(1).load.requests).toBe(1);

    for (let seconds = 0; seconds < 31; seconds++) {
      bench.now += 1000;
      bench.ledger.sweep(bench.now, bench.ends);
    }

    expect(bench.worker(1).load.requests).toBe(0);
    expect(bench.ledger.releases.periodic_lost).toBe(1);
  });
});

it('knows how many log streams there are and when the last one closed', () => {
  const bench = new PickerBench();
  expect(bench.ends).toMatchObject({ logStreams: 0, lastLogStreamClosedAt: null });

  bench.ends.logStreamOpened();
  bench.ends.logStreamOpened();
  bench.now = 5000;
  bench.ends.logStreamClosed();

  expect(bench.ends).toMatchObject({ logStreams: 1, lastLogStreamClosedAt: 5000 });
});
