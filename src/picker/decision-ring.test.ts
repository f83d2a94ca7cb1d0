import { describe, expect, it } from 'vitest';
import { EPOCH, PickerBench, urlOf } from '../../test/support/picker-bench.ts';
import { keyHash } from '../telemetry/key-hash.ts';
import { LINGER_MS, RING_SIZE } from './decision-ring.ts';

const SMALL = { config: { maxPayloadBytes: 1000 } };

function watched(options: ConstructorParameters<typeof PickerBench>[0] = {}): PickerBench {
  const bench = new PickerBench(options).ready(1, 2);
  bench.ring.wake();
  return bench;
}

describe('interface 9 the ring of decisions', () => {
  it('keeps the decision, its pick, its time and whether its body was read', () => {
    const bench = watched();
    bench.now = 5000;

    const { pickId } = bench.pick({ rid: 'alice-7_t1', model: 'm' });
    bench.pick(null);

    const first = bench.ring.at(0)!;
    expect(first).toMatchObject({ seq: 0, at: EPOCH + 5000, tookMs: 0, fromBody: true, pickId, why: null });
    expect(first.outcome).toMatchObject({ kind: 'placed', model: 'm', policy: 'round_robin' });
    expect(first.keyHash).toBe(keyHash('alice-7'));
    expect(bench.ring.at(1)).toMatchObject({ seq: 1, fromBody: false, keyHash: null });
    expect([bench.ring.at(2), bench.ring.at(-1), bench.ring.oldest, bench.ring.next]).toEqual([null, null, 0, 2]);
  });

  it.each([
    ['a model that nobody serves', {}, (bench: PickerBench) => bench.refusal({ model: 'x' }), 'model_not_found'],
    ['a body that is no object', {}, (bench: PickerBench) => bench.refusal([]), 'json_parse_error'],
    [
      'a body that is too large',
      SMALL,
      (bench: PickerBench) => bench.refusal('x'.repeat(2000)),
      'request_body_too_large',
    ],
  ])('keeps refusals: %s', (_name, options, ask, code) => {
    const bench = new PickerBench({ routing: { checkModel: true }, ...options });
    bench.add(1, { models: [{ id: 'm' }] });
    bench.registry.markSettled();
    bench.ring.wake();

    ask(bench);

    const { outcome, why, pickId } = bench.ring.at(0)!;
    expect([outcome?.kind === 'refused' ? outcome.reason : why, pickId]).toEqual([code, '']);
  });

  it('keeps requests that go on without a pick', () => {
    const bench = new PickerBench();
    bench.ring.wake();

    expect(bench.ask(null)).toEqual({ kind: 'pass' });

    expect(bench.ring.at(0)).toMatchObject({ why: 'not_settled', outcome: null, pickId: '' });
  });

  it('keeps the latest ones and forgets the others', () => {
    const bench = watched();
    for (let i = 0; i < RING_SIZE + 5; i++) bench.ring.undecided('deadline', false, bench.now);

    expect([bench.ring.oldest, bench.ring.next]).toEqual([5, RING_SIZE + 5]);
    expect(bench.ring.at(4)).toBeNull();
    expect(bench.ring.at(5)?.seq).toBe(5);
    expect(bench.ring.at(RING_SIZE + 4)?.why).toBe('deadline');
  });

  it('keeps every so many of more than fit into the ring in a quarter of a second, and each refusal', () => {
    const bench = new PickerBench({ routing: { checkModel: true } });
    bench.add(1, { models: [{ id: 'm' }] });
    bench.registry.markSettled();
    bench.ring.wake();
    const burst = (count: number): number => {
      const before = bench.ring.next;
      for (let i = 0; i < count; i++) bench.pick(null);
      return bench.ring.next - before;
    };
    expect(burst(4 * RING_SIZE)).toBe(4 * RING_SIZE);
    expect(bench.ring.leftOut).toBe(0);

    bench.now += 250;
    expect(burst(4 * RING_SIZE)).toBe(RING_SIZE);
    expect(bench.ring.leftOut).toBe(3 * RING_SIZE);
    const before = bench.ring.next;
    bench.refusal({ model: 'x' });
    expect(bench.ring.next).toBe(before + 1);

    // After a lull all are kept again.
    bench.now += 600;
    expect(burst(100)).toBe(100);
  });

  it('does not keep long text of clients alive', () => {
    const bench = new PickerBench({
      policy: 'manual',
      routing: { checkModel: true },
      config: { maxPayloadBytes: 1_000_000 },
    });
    bench.add(1, { models: [{ id: 'm' }] });
    bench.registry.markSettled();
    bench.ring.wake();
    const long = 'k'.repeat(5000);
    bench.refusal({ model: 'm'.repeat(100_000) });
    bench.pick({ model: 'm' }, { headers: [['x-smg-routing-key', long]] });

    const { outcome } = bench.ring.at(0)!;
    expect(outcome?.model.length).toBe(257);
    expect(JSON.stringify([bench.ring.at(0), bench.ring.at(1)]).length).toBeLessThan(20_000);
    expect(JSON.stringify(bench.ring.at(1))).not.toContain(long);
  });
});

describe('interface 9 when the ring records', () => {
  it('auto: not before somebody looks, and no longer than a while after the last look', () => {
    const bench = new PickerBench().ready(1);
    bench.pick(null);
    expect([bench.ring.next, bench.ring.since]).toEqual([0, null]);

    bench.ring.wake();
    expect(bench.ring.since).toBe(EPOCH + bench.now);
    bench.now += LINGER_MS;
    bench.pick(null);
    expect(bench.ring.next).toBe(1);

    bench.now += 1;
    bench.pick(null);
    expect([bench.ring.next, bench.ring.since]).toEqual([1, null]);
  });

  it('auto: what was recorded before a pause is not shown as the latest after it', () => {
    const bench = watched();
    bench.pick(null);
    bench.now += LINGER_MS + 1;
    bench.pick(null);
    bench.ring.wake();

    expect([bench.ring.oldest, bench.ring.next, bench.ring.at(0)]).toEqual([1, 1, null]);
  });

  it('on: all the time; off: never, whoever looks', () => {
    const bench = new PickerBench().ready(1);
    bench.ring.configure('on');
    bench.now += 10 * LINGER_MS;
    bench.pick(null);
    expect(bench.ring.next).toBe(1);

    bench.ring.configure('off');
    bench.ring.wake();
    bench.pick(null);
    expect([bench.ring.next, bench.ring.since]).toEqual([1, null]);

    bench.ring.configure('on');
    bench.ring.configure('auto');
    bench.now += LINGER_MS + 1;
    bench.pick(null);
    expect(bench.ring.next).toBe(1);
  });
});

it('a worker that left is still told by its records', () => {
  const bench = watched();
  const { destination } = bench.pick({ rid: 'gone-1' });
  const { outcome } = bench.ring.at(0)!;
  bench.registry.remove(urlOf(1));
  bench.registry.remove(urlOf(2));

  expect(outcome?.kind === 'placed' && destination.startsWith(outcome.worker.address)).toBe(true);
});
