import { describe, expect, it } from 'vitest';
import { DynamicTable } from './dynamic-table.ts';

/** An entry of 42 bytes. */
const add = (table: DynamicTable, letter: string): void => table.add(letter.repeat(4), letter.repeat(6));
const names = (table: DynamicTable): string =>
  Array.from({ length: table.count }, (_, place) => table.name(place).slice(0, 1)).join('');

describe('RFC 7541 2.3.2 the dynamic table', () => {
  it('has the newest entry first', () => {
    const table = new DynamicTable(4096);
    for (const letter of 'abc') add(table, letter);

    expect(names(table)).toBe('cba');
    expect(table.value(0)).toBe('cccccc');
    expect(table.value(2)).toBe('aaaaaa');
  });

  it('keeps an entry that stands in it already a second time', () => {
    const table = new DynamicTable(4096);
    add(table, 'a');
    add(table, 'a');

    expect(names(table)).toBe('aa');
  });

  it('goes round its places many times', () => {
    const table = new DynamicTable(4 * 42);
    for (let turn = 0; turn < 50; turn++) for (const letter of 'abcdefg') add(table, letter);

    expect(names(table)).toBe('gfed');
  });

  it('holds as many empty entries as there is room for', () => {
    const table = new DynamicTable(4096);
    for (let i = 0; i < 200; i++) table.add('', '');

    expect(table.count).toBe(128);
  });
});

describe('RFC 7541 4.1 to 4.4 its size', () => {
  it.each([
    { maxBytes: 84, held: 'ba' },
    { maxBytes: 83, held: 'b' },
    { maxBytes: 42, held: 'b' },
    { maxBytes: 41, held: '' },
    { maxBytes: 0, held: '' },
  ])('of $maxBytes bytes holds "$held" of two entries of 42', ({ maxBytes, held }) => {
    const table = new DynamicTable(maxBytes);
    add(table, 'a');
    add(table, 'b');

    expect(names(table)).toBe(held);
  });

  it.each([
    { maxBytes: 126, held: 'cba' },
    { maxBytes: 125, held: 'cb' },
    { maxBytes: 84, held: 'cb' },
    { maxBytes: 42, held: 'c' },
    { maxBytes: 41, held: '' },
    { maxBytes: 0, held: '' },
  ])('that becomes $maxBytes leaves "$held" of three entries of 42 (4.3)', ({ maxBytes, held }) => {
    const table = new DynamicTable(4096);
    for (const letter of 'abc') add(table, letter);

    table.resize(maxBytes);

    expect(names(table)).toBe(held);
  });

  it('that grows again brings nothing back, and has room again', () => {
    const table = new DynamicTable(126);
    add(table, 'a');
    table.resize(0);
    table.resize(126);
    expect(table.count).toBe(0);

    for (const letter of 'abcd') add(table, letter);

    expect(names(table)).toBe('dcb');
  });

  it('is lost to an entry that is larger: nothing stays, which is no error (4.4)', () => {
    const table = new DynamicTable(100);
    add(table, 'a');
    table.add('name', 'v'.repeat(65));
    expect(table.count).toBe(0);

    table.add('name', 'v'.repeat(64));

    expect(table.count).toBe(1);
  });
});
