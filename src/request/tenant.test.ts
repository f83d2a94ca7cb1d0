import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { readScope, scopeOfTenant, tenantScope } from './tenant.ts';

const scope = (value: string | Uint8Array | null): string =>
  tenantScope(headOf({ headers: value === null ? [] : [['x-tenant', value]] }), 'x-tenant');
const digest = (value: string | Uint8Array): string =>
  createHash('sha256').update(value).digest('base64url').slice(0, 22);
const LONG = 'a'.repeat(65);

describe('sticky-sessions P15 scope of a tenant', () => {
  it.each([
    ['a name', 'acme', '@4:acme:'],
    ['what looks like a scope', '1:a:', '@4:1:a::'],
    ['the longest that stands in clear', LONG.slice(1), `@64:${LONG.slice(1)}:`],
    ['an empty value', '', '@0::'],
    ['no header', null, '@-:'],
    ['a longer one', LONG, `@#${digest(LONG)}:`],
    ['UTF-8', 'té', `@#${digest('té')}:`],
    ['bytes that are no text', Uint8Array.of(0xff), `@#${digest(Uint8Array.of(0xff))}:`],
  ])('%s', (_, value, expected) => {
    expect(scope(value)).toBe(expected);
  });

  it('is empty while no header is named, whatever is sent', () => {
    expect(tenantScope(headOf({ headers: [['x-tenant', 'acme']] }), null)).toBe('');
  });

  it('is the same for an operator who names the tenant', () => {
    for (const value of ['acme', '', LONG, 'té', null]) expect(scopeOfTenant(value)).toBe(scope(value));
  });

  it('keeps the keys of two tenants apart, and can be read back', () => {
    const text = fc.option(fc.string({ unit: fc.constantFrom('@', ':', '1', '-', '#', 'a', 'é'), maxLength: 70 }));
    fc.assert(
      fc.property(text, fc.string(), text, fc.string(), (tenant, key, otherTenant, otherKey) => {
        const name = scope(tenant) + key;
        const same = tenant === otherTenant && key === otherKey;
        expect(name === scope(otherTenant) + otherKey).toBe(same);
        const { tenant: read, end } = readScope(name);
        expect(name.slice(end)).toBe(key);
        if (read?.digest !== null) expect(read?.digest).toBe(digest(tenant ?? ''));
        else expect(read.name).toBe(tenant);
      }),
    );
  });

  it.each(['7:llama-3:s:conv', 'manual:s:conv', ''])('%j has none', (name) => {
    expect(readScope(name)).toEqual({ tenant: null, end: 0 });
  });
});
