import { describe, expect, it } from 'vitest';
import { hiddenHeaders } from './bootstrap-options.ts';

const BASE = {
  pdDisaggregation: false,
  pdDispatch: 'service',
  policy: 'round_robin',
  prefillPolicy: null,
  decodePolicy: null,
  implicitKeys: ['authorization', 'x-forwarded-for', 'cookie'],
  routingKeySources: ['rid', 'headers'],
  routingKeyHeaders: ['x-smg-routing-key'],
  requestIdHeaders: ['x-request-id'],
  tenantHeader: null,
} as const;

describe('decisions 29: what is hidden from the service', () => {
  it.each([
    [{}, ['authorization', 'cookie']],
    [{ policy: 'consistent_hashing' as const }, []],
    [{ policy: 'consistent_hashing' as const, implicitKeys: [] }, ['authorization', 'cookie']],
    [{ policy: 'consistent_hashing' as const, implicitKeys: ['Cookie'] }, ['authorization']],
    [{ routingKeySources: ['cookie:session', 'headers'] }, ['authorization']],
    [{ routingKeySources: ['agents', 'query:cookie', 'body:/cookie', 'opening'] }, ['authorization', 'cookie']],
    [{ routingKeyHeaders: ['Authorization'] }, ['cookie']],
    [{ routingKeyHeaders: ['Authorization'], routingKeySources: ['cookie:a'] }, ['authorization']],
    [{ requestIdHeaders: ['cookie'] }, ['authorization']],
    [{ tenantHeader: 'cookie' }, ['authorization']],
    [{ tenantHeader: 'x-tenant' }, ['authorization', 'cookie']],
    [{ pdDisaggregation: true }, ['cookie']],
    [{ pdDisaggregation: true, pdDispatch: 'header' as const }, ['authorization', 'cookie']],
  ])('%j: %j', (change, hidden) => {
    expect(hiddenHeaders({ ...BASE, ...change })).toEqual(hidden);
  });
});
