import { describe, expect, it } from 'vitest';
import { PickerBench } from '../../../test/support/picker-bench.ts';
import { type WarningFacts, warningsOf } from './warnings.ts';

const NOW = Date.UTC(2026, 0, 1);
const CLIENT = { node: 'edge-1', version: '3', current: true };
const NOBODY_WRONG: Omit<WarningFacts, 'fleet'> = {
  state: { draining: false, sources: [], endOfRequest: 'access_log', pinStore: null },
  envoy: {
    connections: 2,
    openCalls: 1,
    logStreams: 1,
    endpoints: { version: 3, acks: 3, nacks: 0, lastNack: null, clients: [CLIENT] },
  },
  recent: { decisions: 100, refused: 0, passed: 0 },
  needsLoads: false,
  transport: 'http2',
  adminIsOpen: false,
  bodyOverridesIgnored: 0,
  reloadFailures: 0,
  certificates: [],
  now: NOW,
};

function told(change: Partial<WarningFacts>, bench = new PickerBench().ready(1, 2)) {
  return warningsOf({ ...NOBODY_WRONG, fleet: bench.registry, ...change });
}

const { envoy, state } = NOBODY_WRONG;
const eds = (change: object) => ({ envoy: { ...envoy, endpoints: { ...envoy.endpoints, ...change } } });
const store = (change: object) => ({
  state: { ...state, pinStore: { state: 'up' as const, subscribed: true, provisional: 0, ...change } },
});

describe('issue 8 warnings in plain words', () => {
  it('there is none where all is well', () => {
    expect(told({})).toEqual([]);
    expect(told(store({}))).toEqual([]);
  });

  it.each<[string, Partial<WarningFacts>, string, 'bad' | 'look']>([
    ['no Envoy', { envoy: { ...envoy, connections: 0 } }, 'no_envoy', 'bad'],
    ['no access log', { state: { ...state, endOfRequest: 'age' } }, 'no_access_log', 'bad'],
    ['workers from elsewhere', eds({ clients: [] }), 'no_eds', 'look'],
    ['an older list', eds({ clients: [CLIENT, { ...CLIENT, current: false }] }), 'eds_behind', 'look'],
    [
      'a refused list',
      eds({ clients: [{ ...CLIENT, current: false }], lastNack: { message: 'bad address', version: '3' } }),
      'eds_refused',
      'bad',
    ],
    ['streams that may be reset', { transport: 'grpc-js' }, 'graceful_close', 'look'],
    ['passes', { recent: { decisions: 100, refused: 0, passed: 2 } }, 'passed', 'bad'],
    ['refusals', { recent: { decisions: 100, refused: 5, passed: 0 } }, 'refused', 'bad'],
    ['bodies that do not come', { bodyOverridesIgnored: 1 }, 'body_override', 'look'],
    ['Redis away', store({ state: 'down', provisional: 3 }), 'redis_down', 'bad'],
    ['Redis slow', store({ state: 'slow' }), 'redis_slow', 'look'],
    ['Redis not heard', store({ subscribed: false }), 'redis_deaf', 'look'],
    ['no load reports', { needsLoads: true }, 'stale_loads', 'look'],
    ['a page for all', { adminIsOpen: true }, 'open_admin', 'look'],
    ['a refused file', { reloadFailures: 2 }, 'reload_failed', 'look'],
    ['a certificate that ends', { certificates: [{ name: 'grpc', notAfter: NOW + 5e8 }] }, 'certificate_grpc', 'look'],
    ['one that has ended', { certificates: [{ name: 'grpc', notAfter: NOW }] }, 'certificate_grpc', 'bad'],
    ['the end of the service', { state: { ...state, draining: true } }, 'draining', 'bad'],
    [
      'a source that is not read',
      { state: { ...state, sources: [{ name: 'dns', health: 'stale', problem: 'SERVFAIL' }] } },
      'source_dns',
      'look',
    ],
  ])('%s', (_name, facts, code, level) => {
    const warnings = told(facts);

    expect(warnings.map((warning) => [warning.code, warning.level])).toEqual([[code, level]]);
    expect(warnings[0]!.title).toMatch(/^[A-Z0-9]/);
    expect(warnings[0]!.text).toMatch(/\S{2,}.*[.]$/);
  });

  it('names the workers that are out, and the worst comes first', () => {
    const bench = new PickerBench().ready(1, 2);
    bench.down(2);

    const warnings = told({ recent: { decisions: 10, refused: 0, passed: 1 } }, bench);

    expect(warnings.map(({ code }) => code)).toEqual(['passed', 'workers_out']);
    expect(warnings[1]).toMatchObject({
      title: '1 worker out',
      text: 'Their health checks fail: http://10.0.0.2:8000.',
    });
  });

  it('an empty fleet is told as such', () => {
    const bench = new PickerBench();
    bench.registry.markSettled();

    expect(told({}, bench).map(({ code }) => code)).toEqual(['no_worker']);
  });

  it('few refusals, of many requests, are no warning', () => {
    expect(told({ recent: { decisions: 1000, refused: 5, passed: 0 } })).toEqual([]);
  });
});
