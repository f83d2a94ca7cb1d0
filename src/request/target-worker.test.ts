import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { parseWorkerIndex, readTargetWorker } from './target-worker.ts';

describe('sticky-sessions 1.4 target worker', () => {
  it.each<[string, number | 'invalid']>([
    ['0', 0],
    ['2', 2],
    ['3', 3],
    ['5', 5],
    ['+1', 1],
    ['01', 1],
    ['000000000000000000000000000001', 1],
    ['-1', 'invalid'],
    ['1.0', 'invalid'],
    ['1,2', 'invalid'],
    ['0x1', 'invalid'],
    ['abc', 'invalid'],
    ['99999999999999999999999', 'invalid'],
    ['1 2', 'invalid'],
    ['++1', 'invalid'],
    ['+', 'invalid'],
    ['', 'invalid'],
    [' 1', 'invalid'],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', 'invalid'],
  ])('index %j -> %s', (text, index) => {
    expect(parseWorkerIndex(text)).toBe(index);
  });

  it.each<[string, string | Buffer | undefined, string | null]>([
    ['absent', undefined, null],
    ['empty', '', null],
    ['non-ASCII', 'é', null],
    ['full-width digit', '１', null],
    ['an index', '1', '1'],
    ['a worker id', 'http://10.0.0.1:8000@1', 'http://10.0.0.1:8000@1'],
    ['longer than a hint', 'w'.repeat(300), 'w'.repeat(300)],
  ])('header value: %s', (_title, value, read) => {
    const headers: [string, string | Buffer][] = value === undefined ? [] : [['X-SMG-Target-Worker', value]];

    expect(readTargetWorker(headOf({ headers }))).toBe(read);
  });

  it('an index is exactly an optional plus and digits', () => {
    const text = fc.string({ unit: fc.constantFrom('0', '1', '9', '+', '-', ' ', '.', '１'), maxLength: 6 });

    fc.assert(
      fc.property(text, (value) => {
        expect(parseWorkerIndex(value)).toBe(/^\+?[0-9]+$/.test(value) ? Number(value) : 'invalid');
      }),
    );
  });
});
