import { describe, expect, it } from 'vitest';
import { headOf } from './head.suite.ts';
import type { HeadView } from './head-view.ts';

const text = (head: HeadView, name: string) => {
  const bytes = head.first(name);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
};

describe('HeadView', () => {
  const head = headOf([
    { key: ':path', rawValue: Buffer.from('/p') },
    { key: ':authority', rawValue: Buffer.from('fleet.test') },
    { key: 'x-a', rawValue: Buffer.from('1') },
    { key: 'x-a', rawValue: Buffer.from('2') },
    { key: 'x-old', value: 'of an old Envoy' },
  ]);

  it.each([
    ['x-a', '1'],
    ['x-old', 'of an old Envoy'],
    ['x-b', undefined],
    ['host', 'fleet.test'],
  ])('first value of %s is %s', (name, value) => {
    expect(text(head, name)).toBe(value);
  });

  it.each(['POST', 'GET', 'POSTS', 'CONNECT', ''])('reads the method %s', (method) => {
    expect(headOf([{ key: ':method', rawValue: Buffer.from(method) }]).method).toBe(method);
    expect(headOf([{ key: ':method', value: method }]).method).toBe(method);
  });

  it('has no method where there is none', () => {
    expect(head.method).toBe('');
  });

  it('has no host where there is no authority', () => {
    expect(headOf([]).first('host')).toBeUndefined();
  });
});
