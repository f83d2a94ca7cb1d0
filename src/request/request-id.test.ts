import { randomFillSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { SETTINGS } from '../config/settings-table.ts';
import type { RequestHead } from './request-head.ts';
import { RequestIds, requestIdHeader, requestIdIn } from './request-id.ts';

type Headers = [name: string, value: string][];

interface FoundRequestId {
  readonly value: string;
  readonly headerName: string;
}

function findRequestId(head: RequestHead, names: readonly string[]): FoundRequestId | null {
  const headerName = requestIdHeader(head, names);
  return headerName === null ? null : { value: requestIdIn(head, headerName), headerName };
}

describe('sticky-sessions 1.7 request id', () => {
  it.each<[string, Headers, FoundRequestId | null]>([
    ['x-request-id', [['X-Request-ID', 'a']], { value: 'a', headerName: 'x-request-id' }],
    ['x-correlation-id', [['x-correlation-id', 'a']], { value: 'a', headerName: 'x-correlation-id' }],
    ['x-trace-id', [['x-trace-id', 'a']], { value: 'a', headerName: 'x-trace-id' }],
    ['request-id', [['request-id', 'a']], { value: 'a', headerName: 'request-id' }],
    [
      'the first of the list',
      [
        ['request-id', 'b'],
        ['x-correlation-id', 'a'],
      ],
      { value: 'a', headerName: 'x-correlation-id' },
    ],
    [
      'an empty value counts',
      [
        ['x-request-id', ''],
        ['x-correlation-id', 'a'],
      ],
      { value: '', headerName: 'x-request-id' },
    ],
    [
      'an unreadable value does not',
      [
        ['x-request-id', 'é'],
        ['x-correlation-id', 'a'],
      ],
      { value: 'a', headerName: 'x-correlation-id' },
    ],
    [
      'blanks and length do not matter',
      [['x-request-id', `a ${'b'.repeat(500)}`]],
      { value: `a ${'b'.repeat(500)}`, headerName: 'x-request-id' },
    ],
    ['none', [['x-other', 'a']], null],
  ])('%s', (_title, headers, found) => {
    expect(findRequestId(headOf({ headers }), SETTINGS.requestIdHeaders.default)).toEqual(found);
  });

  it('a list of its own replaces the default', () => {
    const head = headOf({
      headers: [
        ['x-request-id', 'a'],
        ['x-mine', 'b'],
      ],
    });

    expect(findRequestId(head, ['x-mine'])).toEqual({ value: 'b', headerName: 'x-mine' });
  });

  it('generates the prefix and 24 alphanumerics', () => {
    const ids = new RequestIds(randomFillSync);

    const made = Array.from({ length: 2000 }, () => ids.make('chatcmpl-'));

    for (const id of made) expect(id).toMatch(/^chatcmpl-[A-Za-z0-9]{24}$/);
    expect(new Set(made).size).toBe(made.length);
  });

  it('maps random bytes evenly: each letter stands for the same number of byte values', () => {
    let fills = 0;
    const ids = new RequestIds((bytes) => {
      fills++;
      for (let i = 0; i < bytes.length; i++) bytes[i] = i & 0xff;
    });

    // 31 ids take 744 letters: the 248 usable byte values three times over.
    const letters = Array.from({ length: 31 }, () => ids.make('')).join('');

    const counts = new Map<string, number>();
    for (const letter of letters) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(62);
    expect(new Set(counts.values())).toEqual(new Set([12]));
    expect(fills).toBe(1);
  });

  it('draws again when its bytes are used up', () => {
    let fills = 0;
    const ids = new RequestIds((bytes) => {
      fills++;
      bytes.fill(fills);
    });

    // 170 ids take 4,080 of the 4,096 bytes.
    for (let i = 0; i < 170; i++) expect(ids.make('')).toBe('B'.repeat(24));
    expect(fills).toBe(1);
    expect(ids.make('')).toBe(`${'B'.repeat(16)}${'C'.repeat(8)}`);
    expect(fills).toBe(2);
  });
});
