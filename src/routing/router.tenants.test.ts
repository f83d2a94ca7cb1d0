import { describe, expect, it } from 'vitest';
import { makeWorker, TestFleet } from '../../test/support/fleet.ts';
import { type DriverOptions, makeRequest, type RequestParts, RouterDriver } from '../../test/support/routing.ts';
import { endpointOf } from '../request/endpoint.ts';

/** A request with a key, of a tenant or of nobody. */
function of(tenant: string | null, parts: RequestParts = {}): RequestParts {
  return { key: 'conv', headers: tenant === null ? [] : [['x-tenant', tenant]], ...parts };
}

function drive(options: DriverOptions = {}): RouterDriver {
  return new RouterDriver(new TestFleet(['A', 'B', 'C', 'D']), { tenantHeader: 'x-tenant', ...options });
}

describe('sticky-sessions P15 keys of different tenants', () => {
  it.each([
    ['the override', { policy: 'round_robin' }],
    ['the override, by a mode of its own', { policy: 'round_robin', mode: 'min_load' }],
    ['manual', { policy: 'manual', mode: 'min_load' }],
  ] as const)('have pins of their own under %s', (_, options) => {
    const driver = drive(options);
    const places = [null, '', 'acme', 'other'].map((tenant) => driver.hold(of(tenant)).decision);

    expect(new Set(places.map(({ pinKey }) => pinKey)).size).toBe(4);
    expect(places.map(({ worker }) => worker.id)).toEqual(['A', 'B', 'C', 'D']);
    expect(driver.pins.size).toBe(4);
    for (const [index, tenant] of [null, '', 'acme', 'other'].entries()) {
      expect(driver.place(of(tenant)).worker.id).toBe('ABCD'[index]);
    }
  });

  it('have pins of their own for a body rid and for both legs', () => {
    const workers = ['P', 'D'].map((id) => makeWorker(id, { type: id === 'P' ? 'prefill' : 'decode' }));
    const driver = new RouterDriver(new TestFleet(workers, true), { tenantHeader: 'x-tenant', pair: {} });
    const { pinKey, prefill, loadKey } = driver.place(of('acme', { rid: 'r' }));

    expect([pinKey, prefill?.pinKey]).toEqual(['@4:acme:7:unknown:d:r', '@4:acme:7:unknown:p:r']);
    expect([loadKey, prefill?.loadKey]).toEqual(['@4:acme:r', '@4:acme:r']);
  });

  it('count apart in flight: one tenant does not push the key of another from its worker', () => {
    const driver = drive({ policy: 'passthrough', inflightCap: 2 });
    for (const tenant of ['acme', 'acme', 'other']) driver.hold(of(tenant));

    expect(driver.place(of('other')).trail.stickyBranch).toBe('occupied_hit');
    expect(driver.place(of('acme')).trail.stickyBranch).toBe('cap_respill');
  });

  it('count apart under any policy', () => {
    const driver = drive({ policy: 'round_robin', keys: { override: false } });

    expect(driver.place(of('acme')).loadKey).toBe('@4:acme:conv');
    expect(driver.place({ headers: [['x-tenant', 'acme']] }).loadKey).toBeNull();
  });

  it('share a place on the hash ring, which remembers nothing', () => {
    const driver = drive({ policy: 'consistent_hashing', keys: { override: false } });

    expect(driver.place(of('acme')).worker).toBe(driver.place(of('other')).worker);
  });

  it('let a pin spare the body of its own tenant only', () => {
    const driver = drive({ policy: 'cache_aware', keys: { order: 'header-only' } });
    const need = (tenant: string) =>
      driver.router.bodyNeed(makeRequest(of(tenant)).head, driver.fleet.snapshot, endpointOf('/v1/chat/completions'));
    driver.place(of('acme'));

    expect([need('acme'), need('other')]).toEqual([null, 'policy_needs_text']);
  });

  it('are one while no header is named', () => {
    const driver = drive({ tenantHeader: null });
    driver.place(of('acme'));

    expect(driver.place(of('other')).pinKey).toBe('7:unknown:s:conv');
    expect(driver.pins.size).toBe(1);
  });
});
