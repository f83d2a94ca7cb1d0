import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLoadMessage, encodeLoadMessage, type LoadMessage, splitCounts } from './load-messages.ts';
import type { WorkerCounts } from './load-state.ts';

const name = fc.stringMatching(/^[0-9a-f]{8}$/);
const count = fc.nat({ max: 2 ** 31 - 1 });
const pairs = fc
  .array(fc.tuple(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), count))
  .map((list): readonly number[] => list.flat());
const counts = fc.record({ worker: fc.string(), requests: count, distinctKeys: count, keys: pairs });
const workers = fc.array(counts);
const totals = fc.record({ requests: count, distinctKeys: count, hashes: count, keyRequests: count });
const message: fc.Arbitrary<LoadMessage> = fc.oneof(
  fc.record({ kind: fc.constant('changes' as const), from: name, seq: count, workers }),
  fc.record({ kind: fc.constant('beat' as const), from: name, seq: count, logStreams: count, totals }),
  fc
    .record({
      kind: fc.constant('state' as const),
      from: name,
      seq: count,
      parts: fc.integer({ min: 1, max: 99 }),
      workers,
    })
    .chain((state) => fc.nat({ max: state.parts - 1 }).map((part) => ({ ...state, part }))),
  fc.record({ kind: fc.constant('ask' as const), from: name, of: fc.option(name) }),
  fc.record({ kind: fc.constant('bye' as const), from: name }),
);

describe('messages about loads', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(message, (each) => {
        expect(decodeLoadMessage(encodeLoadMessage(each))).toEqual(each);
      }),
    );
  });

  it('that are anything else are no messages, and never throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.array(fc.jsonValue()).map((row) => JSON.stringify(row)),
        ),
        (text) => {
          expect(decodeLoadMessage(text)).toBeUndefined();
        },
      ),
    );
  });

  it.each([
    ['["c","0000000a",1,[["w",-1,0,[]]]]', 'a negative count'],
    ['["c","0000000a",1,[["w",1,0,[7]]]]', 'half a pair'],
    ['["c","0000000a",1,[["w",1,0,[4294967296,1]]]]', 'a hash of more than 32 bits'],
    ['["c","0000000a",1.5,[]]', 'a broken sequence number'],
    ['["c","0000000G",1,[]]', 'a name that is none'],
    ['["s","0000000a",1,2,2,[]]', 'a part beyond the last'],
    ['["a","0000000a",""]', 'a question to nobody'],
    ['["q","0000000a"]', 'an unknown kind'],
    [`["c","0000000a",1,[["${'w'.repeat(3000)}",1,0,[]]]]`, 'a worker id that is too long'],
  ])('%s: %s', (text) => {
    expect(decodeLoadMessage(text)).toBeUndefined();
  });

  it('are split where they are too long, and say the same', () => {
    fc.assert(
      fc.property(workers, fc.integer({ min: 17, max: 60 }), (list, max) => {
        const lists = splitCounts(list, max);
        const merged = new Map<string, number[]>();
        const whole = new Map<string, number[]>();
        const gather = (into: Map<string, number[]>, { worker, requests, keys }: WorkerCounts): void =>
          void into.set(`${worker} ${requests}`, [...(into.get(`${worker} ${requests}`) ?? []), ...keys]);
        for (const each of list) gather(whole, each);
        for (const each of lists.flat()) gather(merged, each);

        expect(merged).toEqual(whole);
        for (const each of lists) {
          expect(each.reduce((sum, { keys }) => sum + 16 + keys.length, 0)).toBeLessThanOrEqual(max + 2);
        }
      }),
    );
  });
});
