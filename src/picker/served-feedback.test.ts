import { describe, expect, it } from 'vitest';
import { PickerBench } from '../../test/support/picker-bench.ts';
import type { PickAnswer } from './answer.ts';
import type { SeenResponse } from './served-feedback.ts';

const at = (n: number): string => `10.0.0.${n}:8000`;

/** Three workers; the first pick of key `k` names 1, 2 and 3 in this order. */
function house() {
  const bench = new PickerBench({ keys: { override: true } }).ready(1, 2, 3);
  const pick = bench.pick({ rid: 'k_t1' });
  return { bench, pick };
}

function seen({ pickId, destination }: PickAnswer, address: string, more: Partial<SeenResponse> = {}): SeenResponse {
  return { pickId, destination, address, status: 200, codeDetails: null, attempts: null, ...more };
}

const loads = (bench: PickerBench): number[] => [1, 2, 3].map((n) => bench.worker(n).load.requests);
const pinned = (bench: PickerBench): string | undefined => bench.local.peek('7:unknown:s:k')?.candidates[0];

/** Breaker news as `worker outcome`. */
function news(bench: PickerBench): string[] {
  const told: string[] = [];
  bench.registry.attempted = (id, outcome) => told.push(`${id.slice(-6)} ${outcome}`);
  return told;
}

describe('endpoint-picker-protocol 5 and P9 served feedback', () => {
  it('moves count and pin to the worker that served, and tells the breakers of it and of the skipped ones', () => {
    const { bench, pick } = house();
    const told = news(bench);
    expect(pick.destination).toBe([at(1), at(2), at(3)].join(','));
    expect(loads(bench)).toEqual([1, 0, 0]);

    expect(bench.feedback.told).toBe(false);
    bench.feedback.responseBegan(seen(pick, at(3)));

    expect(bench.feedback.told).toBe(true);
    expect(loads(bench)).toEqual([0, 0, 1]);
    expect(pinned(bench)).toBe('http://10.0.0.3:8000');
    expect(told).toEqual(['3:8000 success', '1:8000 failure', '2:8000 failure']);
    bench.feedback.streamEnded(pick.pickId);
    expect(loads(bench)).toEqual([0, 0, 0]);
    expect(bench.ledger.releases).toMatchObject({ stream: 1 });
  });

  it.each<[string, string, Partial<SeenResponse>, string[]]>([
    ['the first choice', at(1), {}, ['1:8000 success']],
    ['the first choice with an error', at(1), { status: 503 }, ['1:8000 failure']],
    ['the second', at(2), {}, ['2:8000 success', '1:8000 failure']],
    ['the second by the first attempt: Envoy does not know the first', at(2), { attempts: 1 }, ['2:8000 success']],
    ['the second by two attempts', at(2), { attempts: 2 }, ['2:8000 success', '1:8000 failure']],
    ['a worker that is not ours', '10.9.9.9:1', {}, ['1:8000 failure', '2:8000 failure', '3:8000 failure']],
    ['nobody told', '', { status: 503 }, []],
    [
      'nobody answered, the last one tried is named',
      at(2),
      { status: 503, codeDetails: 'upstream_reset_before_response_started{remote_connection_failure}' },
      ['2:8000 failure', '1:8000 failure'],
    ],
  ])('feeds failure memory: %s', (_name, address, more, expected) => {
    const { bench, pick } = house();
    const told = news(bench);

    bench.feedback.responseBegan(seen(pick, address, more));
    bench.feedback.responseBegan(seen(pick, address, more));

    expect(told).toEqual(expected);
  });

  it.each([408, 429, 500, 503])('leaves the pin where it is after an answer of %i by another worker', (status) => {
    const { bench, pick } = house();

    bench.feedback.responseBegan(seen(pick, at(2), { status }));

    expect(pinned(bench)).toBe('http://10.0.0.1:8000');
    expect(loads(bench)).toEqual([0, 1, 0]);
  });

  it("leaves the pin where it is after Envoy's own answer", () => {
    const { bench, pick } = house();

    bench.feedback.responseBegan(seen(pick, at(2), { status: 404, codeDetails: 'route_not_found' }));

    expect(pinned(bench)).toBe('http://10.0.0.1:8000');
  });

  it('assumes the first choice where nothing is told', () => {
    const { bench, pick } = house();

    bench.feedback.responseBegan(seen(pick, ''));

    expect(loads(bench)).toEqual([1, 0, 0]);
    expect(pinned(bench)).toBe('http://10.0.0.1:8000');
  });

  it('counts nothing twice where an access-log entry follows', () => {
    const { bench, pick } = house();
    const told = news(bench);
    bench.feedback.responseBegan(seen(pick, at(2)));
    bench.feedback.streamEnded(pick.pickId);

    bench.end(pick.pickId, 2, { attempts: 2 });

    expect(loads(bench)).toEqual([0, 0, 0]);
    expect(bench.ledger.releases).toMatchObject({ stream: 1, end: 0 });
    expect(told).toEqual(['2:8000 success', '1:8000 failure']);
    expect(pinned(bench)).toBe('http://10.0.0.2:8000');
  });

  it('is nothing to a pick that is not known', () => {
    const { bench, pick } = house();
    const told = news(bench);

    bench.feedback.responseBegan({ ...seen(pick, at(2)), pickId: 'of-another' });
    bench.feedback.streamEnded('of-another');

    expect([told, loads(bench)]).toEqual([[], [1, 0, 0]]);
  });

  it('renews the pin at the end of its request (sticky-sessions P19)', () => {
    const { bench, pick } = house();
    bench.now += 100_000;
    bench.feedback.streamEnded(pick.pickId);

    expect(bench.local.sweep(bench.now + 50_000, 60_000)).toBe(0);
    expect(bench.local.sweep(bench.now + 60_000, 60_000)).toBe(1);
  });
});
