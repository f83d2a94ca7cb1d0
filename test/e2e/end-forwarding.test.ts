import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ask,
  noEnvoy,
  noRedis,
  type RedisHandle,
  type Replicas,
  type ServiceProcess,
  startRedis,
  startReplicas,
  until,
} from '../support/services.ts';

const REQUESTS = 40;

/** As in a deployment whose replicas change: Envoy has one access logger, which reaches one of them. */
describe.skipIf(noEnvoy() || noRedis())('decisions 23: one access logger for several replicas', () => {
  let redis: RedisHandle;
  let stand: Replicas;
  beforeAll(async () => {
    redis = await startRedis();
    stand = await startReplicas({
      store: redis.url,
      // Nothing else ends a request whose body was not read.
      flags: ['--routing-key-order', 'header-only'],
      sim: { tokenMs: 5 },
      change: ({ manager }) => {
        manager['access_log'] = [(manager['access_log'] as unknown[])[0]];
      },
    });
  });
  afterAll(async () => {
    await stand?.close();
    await redis?.stop();
  });

  it('each end reaches the replica that made the pick, once', async () => {
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, (_, i) =>
        ask(stand.url, {
          method: 'POST',
          path: '/v1/chat/completions',
          headers: { 'content-type': 'application/json', 'x-smg-routing-key': `forwarded-${i}` },
          body: JSON.stringify({ model: 'sim-model', messages: [{ role: 'user', content: 'hi' }] }),
        }),
      ),
    );

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));

    await until(async () => (await stand.sum('smg_envoy_picks_in_flight')) === 0, 'no request counts any more');
    // A pick that came too late on a busy machine has no entry.
    const ends = REQUESTS - (await stand.sum('smg_envoy_fail_open_total'));
    expect(await stand.sum('smg_envoy_releases_total', { reason: 'end' })).toBe(ends);
    expect(await stand.sum('smg_envoy_access_log_entries_total', { kind: 'end' })).toBe(ends);
    expect(await stand.sum('smg_envoy_access_log_entries_total', { kind: 'unknown_pick' })).toBe(0);
    // Only one replica hears Envoy's log; the other one got its ends from there.
    const all = await Promise.all(stand.services.map((service) => service.metrics()));
    const [deaf] = all.filter((metrics) => metrics.sum('smg_envoy_access_log_streams') === 0);
    const received = deaf?.sum('smg_envoy_replica_log_entries_total', { event: 'received' });
    expect(received).toBeGreaterThan(0);
    expect(received).toBe(deaf?.sum('smg_envoy_releases_total', { reason: 'end' }));
  });

  it('both replicas know what ends requests', async () => {
    const sourceOf = async (service: ServiceProcess): Promise<string> =>
      (await service.admin('/readiness')).json.end_of_request_source;

    await until(
      async () => (await Promise.all(stand.services.map(sourceOf))).every((source) => source === 'access_log'),
      'both know of the one log stream',
    );
  });
});
