import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../../test/support/fleet.ts';
import { type RequestParts, SMG_KEYS } from '../../../test/support/routing.ts';
import { ConsistentHashingPolicy } from './consistent-hashing.ts';
import { makePlacement, policySuite } from './policy.suite.ts';

const create = () => new ConsistentHashingPolicy({ ...SMG_KEYS, override: false });

policySuite('consistent_hashing', create);

const members = ['http://w1:8000', 'http://w2:8000', 'http://w3:8000'].map((id, i) =>
  makeWorker(id, { address: `10.1.0.${i + 1}:8000` }),
);

/** Where a request goes, as the number in `http://wN:8000`, and why. */
function pick(parts: RequestParts, out: readonly string[] = [], draw = 0, rules = { ...SMG_KEYS, override: false }) {
  const placement = makePlacement(
    members.map((worker) => (out.includes(worker.id) ? { ...worker, placeable: false } : worker)),
    parts,
    () => draw,
  );
  const worker = new ConsistentHashingPolicy(rules).pick(placement);
  return [worker === null ? null : Number(worker.id[8]), placement.trail.ringBranch];
}

describe('policies 1.8 requests to consistent_hashing, three eligible', () => {
  it.each([
    { what: 'target 1, routing key user-1', parts: { target: '1', key: 'user-1' }, want: [2, 'target_worker_hit'] },
    { what: 'target 7', parts: { target: '7' }, want: [null, 'target_worker_miss'] },
    { what: 'target abc', parts: { target: 'abc' }, want: [null, 'target_worker_miss'] },
    { what: 'target -1', parts: { target: '-1' }, want: [null, 'target_worker_miss'] },
    { what: 'target empty, key user-2', parts: { target: '', key: 'user-2' }, want: [2, 'routing_key_hit'] },
    { what: 'key of 129 bytes', parts: { key: 'k'.repeat(129) }, want: [3, 'random_fallback'] },
    { what: 'no headers', parts: {}, want: [3, 'random_fallback'] },
  ] satisfies { what: string; parts: RequestParts; want: unknown[] }[])('$what: $want', ({ parts, want }) => {
    expect(pick(parts, [], 0.99)).toEqual(want);
  });

  it('empty routing key, Authorization present: owner of the whole Authorization value', () => {
    const implicit = pick({ key: '', headers: [['authorization', 'Bearer sk-1']] });

    expect(implicit).toEqual(pick({ key: 'Bearer sk-1' }));
    expect(implicit[1]).toBe('routing_key_hit');
  });

  it.each([
    { key: 'user-1', owners: [3, 3, 3, 2] },
    { key: 'user-2', owners: [2, 2, 3, 2] },
    { key: 'user-3', owners: [3, 3, 3, 1] },
    { key: '10.0.0.1', owners: [2, 2, 3, 2] },
  ])('$key with all, and with w1, w2, w3 out: $owners', ({ key, owners }) => {
    const out = [[], ['http://w1:8000'], ['http://w2:8000'], ['http://w3:8000']];

    expect(out.map((ids) => pick({ key }, ids)[0])).toEqual(owners);
  });

  it('goes by each request, also when keys alternate', () => {
    const policy = create();
    const at = (key: string) => policy.pick(makePlacement(members, { key }))?.id;

    expect(['user-1', 'user-2', 'user-1', 'user-1'].map(at)).toEqual([
      'http://w3:8000',
      'http://w2:8000',
      'http://w3:8000',
      'http://w3:8000',
    ]);
  });

  it('names the successors on the ring', () => {
    const policy = create();
    const placement = makePlacement(members, { key: 'user-2' });
    const first = policy.pick(placement)!;
    const second = policy.next(placement, [first])!;

    expect([first.id, second.id, policy.next(placement, [first, second])?.id]).toEqual([
      'http://w2:8000',
      'http://w3:8000',
      'http://w1:8000',
    ]);
  });
});

describe('sticky-sessions 1.4 target worker, three available', () => {
  it.each([
    ['0', 1],
    ['2', 3],
    ['3', null],
    ['5', null],
    ['+1', 2],
    ['01', 2],
    ['-1', null],
    ['1.0', null],
    ['1,2', null],
    ['0x1', null],
    ['abc', null],
    ['1 2', null],
    ['99999999999999999999999', null],
  ])('%s: %s', (target, number) => {
    expect(pick({ target })).toEqual([number, number === null ? 'target_worker_miss' : 'target_worker_hit']);
  });

  it.each(['', '１'])('%j is absent', (target) => {
    expect(pick({ target, key: 'user-2' })).toEqual([2, 'routing_key_hit']);
  });

  it('wins over a routing key and a rid', () => {
    expect(pick({ target: '1', key: 'some-key', rid: 'r' }, [], 0, SMG_KEYS)).toEqual([2, 'target_worker_hit']);
  });

  it('counts the workers eligible now', () => {
    expect(pick({ target: '1' }, ['http://w1:8000'])).toEqual([3, 'target_worker_hit']);
    expect(pick({ target: '2' }, ['http://w1:8000'])).toEqual([null, 'target_worker_miss']);
  });
});

describe('decisions 3 target worker by name', () => {
  it.each([
    ['http://w2:8000', 2],
    ['w2:8000', 2],
    ['10.1.0.3:8000', 3],
    ['http://w2:8000/', null],
    ['w2', null],
    ['w9:8000', null],
  ])('%s: %s', (target, number) => {
    expect(pick({ target })[0]).toBe(number);
  });

  it('misses a worker that is not eligible', () => {
    expect(pick({ target: 'http://w2:8000' }, ['http://w2:8000'])).toEqual([null, 'target_worker_miss']);
    expect(pick({ target: 'w2:8000' }, ['http://w2:8000'])).toEqual([null, 'target_worker_miss']);
  });

  it('finds the host of a URL with a path and of an IPv6 address', () => {
    const odd = [makeWorker('http://h:80/base'), makeWorker('http://[::1]:80')];
    const at = (target: string) => create().pick(makePlacement(odd, { target }))?.id;

    expect([at('h:80'), at('[::1]:80')]).toEqual(['http://h:80/base', 'http://[::1]:80']);
  });
});
