import { expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { contentLength } from './content-length.ts';

it.each([
  ['0', 0],
  ['1000', 1000],
  ['999999999999999', 999_999_999_999_999],
  ['', -1],
  ['12a', -1],
  ['-1', -1],
  ['1 2', -1],
  ['9999999999999999', -1],
])('%j is %i', (value, expected) => {
  expect(contentLength(headOf({ headers: [['content-length', value]] }))).toBe(expected);
});

it('is -1 where none is declared', () => {
  expect(contentLength(headOf())).toBe(-1);
});
