import { describe, expect, it } from 'vitest';
import { keyRules, makeRequest, type RequestParts, SMG_KEYS } from '../../test/support/routing.ts';
import { newTrail } from './decision.ts';
import {
  type HeaderKeyReader,
  type KeyRules,
  keyOf,
  loadKeyOf,
  readListedKey,
  readManualKey,
  readRingKey,
  ringKeyOf,
} from './routing-keys.ts';

const ON = SMG_KEYS;
const OFF: KeyRules = { ...SMG_KEYS, override: false };

function found(parts: RequestParts, rules: KeyRules, reader: HeaderKeyReader): [string | null, string | null] {
  const trail = newTrail();
  return [keyOf(makeRequest(parts), rules, reader, trail), trail.keySource];
}

// Keys of a body arrive stripped: `conv_t2` as `conv`.
describe('sticky-sessions 2.4 precedence', () => {
  it.each([
    {
      policy: 'the override',
      rules: ON,
      reader: readListedKey,
      rid: 'conv42',
      key: 'req-aaa',
      want: ['conv42', 'rid'],
    },
    {
      policy: 'the override',
      rules: ON,
      reader: readListedKey,
      rid: 'conv42',
      key: 'req-bbb',
      want: ['conv42', 'rid'],
    },
    { policy: 'the override', rules: ON, reader: readListedKey, key: 'conv_t2', want: ['conv', 'header'] },
    { policy: 'manual', rules: ON, reader: readManualKey, rid: 'conv', key: 'x', want: ['conv', 'rid'] },
    { policy: 'manual', rules: ON, reader: readManualKey, key: 'conv_t2', want: ['conv_t2', 'header'] },
    { policy: 'consistent_hashing', rules: ON, reader: readRingKey, key: 'conv_t2', want: ['conv_t2', 'header'] },
    { policy: 'consistent_hashing', rules: ON, reader: readRingKey, rid: 'conv', key: 'x', want: ['conv', 'rid'] },
    { policy: 'manual', rules: OFF, reader: readManualKey, rid: 'conv', key: 'x', want: ['x', 'header'] },
    {
      policy: 'consistent_hashing',
      rules: OFF,
      reader: readRingKey,
      rid: 'conv',
      key: 'x_t1',
      want: ['x_t1', 'header'],
    },
  ])('$policy, override $rules.override, rid $rid, header $key: $want', ({ rules, reader, rid, key, want }) => {
    const parts = { ...(rid === undefined ? {} : { rid }), ...(key === undefined ? {} : { key }) };

    expect(found(parts, rules, reader)).toEqual(want);
  });

  it.each([
    { order: 'rid-first', both: ['r', 'rid'], rid: ['r', 'rid'], header: ['h', 'header'] },
    { order: 'header-first', both: ['h', 'header'], rid: ['r', 'rid'], header: ['h', 'header'] },
    { order: 'header-only', both: ['h', 'header'], rid: [null, null], header: ['h', 'header'] },
  ] as const)('$order: both $both, only rid $rid, only header $header', ({ order, both, rid, header }) => {
    const rules = keyRules({ order });
    for (const reader of [readListedKey, readManualKey, readRingKey]) {
      expect(found({ rid: 'r', key: 'h' }, rules, reader)).toEqual(both);
      expect(found({ rid: 'r' }, rules, reader)).toEqual(rid);
      expect(found({ key: 'h' }, rules, reader)).toEqual(header);
      expect(found({}, rules, reader)).toEqual([null, null]);
    }
  });

  it('falls back to rid when the header is invalid, also header-first', () => {
    const rules = keyRules({ order: 'header-first' });

    expect(found({ rid: 'r', key: 'k'.repeat(129) }, rules, readListedKey)).toEqual(['r', 'rid']);
  });
});

describe('sticky-sessions 2.5 differences in reading headers', () => {
  const FOO: KeyRules = { ...ON, headers: ['x-foo'] };
  const long = 'k'.repeat(129);

  it.each([
    { what: 'a listed header', parts: { headers: [['x-foo', 'f_t1']] }, rules: FOO, want: ['f', null, 'f_t1'] },
    { what: 'the own header, not listed', parts: { key: 's_t1' }, rules: FOO, want: [null, 's_t1', 's_t1'] },
    { what: 'the own header, listed', parts: { key: 's_t1' }, rules: ON, want: ['s', 's_t1', 's_t1'] },
    { what: 'both', parts: { key: 's', headers: [['x-foo', 'f']] }, rules: FOO, want: ['f', 's', 'f'] },
    { what: 'over 128 bytes', parts: { key: long }, rules: ON, want: [null, long, null] },
    { what: 'not ASCII', parts: { key: 'clé' }, rules: ON, want: ['clé', null, 'clé'] },
    { what: 'an empty value', parts: { key: '' }, rules: ON, want: [null, null, null] },
    { what: 'an empty list', parts: { key: 's' }, rules: { ...ON, headers: [] }, want: [null, 's', 's'] },
  ] satisfies { what: string; parts: RequestParts; rules: KeyRules; want: (string | null)[] }[])(
    '$what: override, manual, consistent_hashing read $want',
    ({ parts, rules, want }) => {
      const { head } = makeRequest(parts);

      expect([readListedKey(head, rules), readManualKey(head, rules), readRingKey(head, rules)]).toEqual(want);
    },
  );

  it('strips header keys of the override only while it is on', () => {
    const { head } = makeRequest({ key: 'x_t1' });

    expect(readListedKey(head, OFF)).toBe('x_t1');
  });
});

describe('sticky-sessions 2.6 load key', () => {
  it.each([
    { what: 'rid before header', parts: { rid: 'r', key: 'h' }, rules: ON, want: 'r' },
    { what: 'header stripped with the override', parts: { key: 'conv_t1' }, rules: ON, want: 'conv' },
    { what: 'header raw without', parts: { rid: 'r', key: 'conv_t1' }, rules: OFF, want: 'conv_t1' },
    { what: '200 characters', parts: { key: 'k'.repeat(200) }, rules: ON, want: null },
    {
      what: 'a list with x-foo only',
      parts: { key: 'pins', headers: [['x-foo', 'counts']] },
      rules: { ...ON, headers: ['x-foo'] },
      want: 'counts',
    },
  ] satisfies { what: string; parts: RequestParts; rules: KeyRules; want: string | null }[])(
    '$what: $want',
    ({ parts, rules, want }) => {
      expect(loadKeyOf(makeRequest(parts), rules)).toBe(want);
    },
  );
});

describe('sticky-sessions 3.14 implicit keys', () => {
  const auth = ['authorization', 'Bearer t'] as const;
  const forwarded = ['x-forwarded-for', '10.0.0.1'] as const;
  const cookie = ['cookie', 'a=1'] as const;

  it.each([
    { what: 'authorization first', headers: [cookie, forwarded, auth], want: 'Bearer t' },
    { what: 'x-forwarded-for next', headers: [cookie, forwarded], want: '10.0.0.1' },
    { what: 'cookie last', headers: [cookie], want: 'a=1' },
    { what: 'an empty one blocks', headers: [['authorization', ''] as const, cookie], want: null },
    { what: 'one that is not ASCII blocks', headers: [['authorization', 'é'] as const, cookie], want: null },
    { what: 'none', headers: [], want: null },
  ])('$what: $want', ({ headers, want }) => {
    expect(ringKeyOf(makeRequest({ headers }), OFF)).toBe(want);
  });

  it('stands behind a routing key', () => {
    expect(ringKeyOf(makeRequest({ headers: [auth], key: 'k' }), OFF)).toBe('k');
  });

  it('steps in for an invalid routing key', () => {
    expect(ringKeyOf(makeRequest({ headers: [auth], key: '' }), OFF)).toBe('Bearer t');
  });

  it('can be switched off', () => {
    expect(ringKeyOf(makeRequest({ headers: [auth] }), { ...OFF, implicitHeaders: [] })).toBeNull();
  });
});
