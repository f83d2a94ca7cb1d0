import { describe, expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { headerKey, implicitKey, ridKeyOf } from './routing-key.ts';

type Headers = [name: string, value: string | Buffer][];

const DEFAULT = ['x-smg-routing-key'];
const TWO = ['x-routing-key', 'x-smg-routing-key'];

describe('sticky-sessions 1.3 routing-key headers', () => {
  it.each<[string, string[], Headers, string | null]>([
    [
      'the first name of the list wins',
      TWO,
      [
        ['x-smg-routing-key', 'legacy'],
        ['x-routing-key', 'primary'],
      ],
      'primary',
    ],
    ['a later name serves when the first is absent', TWO, [['x-smg-routing-key', 'legacy']], 'legacy'],
    [
      'a value over the cap falls through',
      TWO,
      [
        ['x-routing-key', 'k'.repeat(129)],
        ['x-smg-routing-key', 'legacy'],
      ],
      'legacy',
    ],
    ['an empty value and no other', TWO, [['x-routing-key', '']], null],
    ['a name outside of the list', DEFAULT, [['x-routing-key', 'primary']], null],
    ['no headers at all', TWO, [], null],
    ['no headers at all, default list', DEFAULT, [], null],
    ['an empty list (U9)', [], [['x-smg-routing-key', 'a']], null],
    [
      'a first value that is invalid is not rescued by a second of the same name',
      DEFAULT,
      [
        ['x-smg-routing-key', Buffer.from([0xc3, 0x28])],
        ['x-smg-routing-key', 'abc'],
      ],
      null,
    ],
  ])('%s', (_title, names, headers, key) => {
    expect(headerKey(headOf({ headers }), names)).toBe(key);
  });

  it('is not stripped of its lineage', () => {
    expect(headerKey(headOf({ headers: [['x-smg-routing-key', 'conv_t2']] }), DEFAULT)).toBe('conv_t2');
  });
});

describe('sticky-sessions 3.14 implicit keys', () => {
  const names = ['authorization', 'x-forwarded-for', 'cookie'];

  it.each<[string, Headers, string | null]>([
    [
      'the first present name',
      [
        ['cookie', 'c'],
        ['authorization', 'Bearer x'],
      ],
      'Bearer x',
    ],
    ['a later name alone', [['cookie', 'c']], 'c'],
    [
      'an empty first name hides the others',
      [
        ['authorization', ''],
        ['cookie', 'c'],
      ],
      null,
    ],
    [
      'a non-ASCII first name hides the others',
      [
        ['x-forwarded-for', 'é'],
        ['cookie', 'c'],
      ],
      null,
    ],
    ['a value longer than a hint', [['authorization', 'k'.repeat(300)]], 'k'.repeat(300)],
    ['none present', [['host', 'h']], null],
  ])('%s', (_title, headers, key) => {
    expect(implicitKey(headOf({ headers }), names)).toBe(key);
  });

  it('an empty list gives no key', () => {
    expect(implicitKey(headOf({ headers: [['cookie', 'c']] }), [])).toBeNull();
  });
});

describe('sticky-sessions 2.3 the 128-byte cap', () => {
  it.each<[string, string, string | null]>([
    ['129 bytes that are 126 once stripped', `${'k'.repeat(126)}_t1`, 'k'.repeat(126)],
    ['200 bytes once stripped', `${'k'.repeat(200)}_t1`, null],
    ['128 bytes', 'k'.repeat(128), 'k'.repeat(128)],
    ['129 bytes', 'k'.repeat(129), null],
    ['128 bytes of two-byte characters', 'é'.repeat(64), 'é'.repeat(64)],
    ['130 bytes in 65 characters', 'é'.repeat(65), null],
    ['a short key behind a very long turn number', `k_t${'0'.repeat(1000)}`, 'k'],
    ['empty', '', null],
  ])('rid: %s', (_title, rid, key) => {
    expect(ridKeyOf(rid)).toBe(key);
  });

  it.each<[string, string, string | null]>([
    ['129 bytes, though 126 once stripped', `${'k'.repeat(126)}_t1`, null],
    ['128 bytes', `${'k'.repeat(125)}_t1`, `${'k'.repeat(125)}_t1`],
  ])('header, counted before stripping: %s', (_title, value, raw) => {
    expect(headerKey(headOf({ headers: [['x-smg-routing-key', value]] }), DEFAULT)).toBe(raw);
  });

  it('a header of 129 bytes leaves the key to the next name', () => {
    const headers: Headers = [
      ['x-routing-key', `${'k'.repeat(126)}_t1`],
      ['x-smg-routing-key', 'h_t3'],
    ];

    expect(headerKey(headOf({ headers }), TWO)).toBe('h_t3');
  });
});
