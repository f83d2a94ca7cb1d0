import { expect, it } from 'vitest';
import { STATIC_TABLE } from './static-table.ts';

it('has the 61 entries of RFC 7541 Appendix A', () => {
  expect(STATIC_TABLE).toHaveLength(61);
  expect(new Set(STATIC_TABLE.map((entry) => entry.join('\0'))).size).toBe(61);
});

it.each([
  { index: 1, name: ':authority', value: '' },
  { index: 2, name: ':method', value: 'GET' },
  { index: 3, name: ':method', value: 'POST' },
  { index: 4, name: ':path', value: '/' },
  { index: 5, name: ':path', value: '/index.html' },
  { index: 6, name: ':scheme', value: 'http' },
  { index: 7, name: ':scheme', value: 'https' },
  { index: 8, name: ':status', value: '200' },
  { index: 14, name: ':status', value: '500' },
  { index: 15, name: 'accept-charset', value: '' },
  { index: 16, name: 'accept-encoding', value: 'gzip, deflate' },
  { index: 19, name: 'accept', value: '' },
  { index: 28, name: 'content-length', value: '' },
  { index: 31, name: 'content-type', value: '' },
  { index: 38, name: 'host', value: '' },
  { index: 50, name: 'range', value: '' },
  { index: 58, name: 'user-agent', value: '' },
  { index: 61, name: 'www-authenticate', value: '' },
])('has $name at $index', ({ index, name, value }) => {
  expect(STATIC_TABLE[index - 1]).toEqual([name, value]);
});
