/** What the replicas of one deployment have in common: made only where `--pin-store` names a shared store. */
import type { PinStoreFacts } from '../admin/readiness.ts';
import type { Settings } from '../config/load-settings.ts';
import type { RequestEnds } from '../picker/request-ends.ts';
import { PinNames } from '../pins/shared/pin-names.ts';
import { SharedPinStore } from '../pins/shared/shared-pin-store.ts';
import type { RedisLink } from '../redis/redis-link.ts';
import type { Replicas } from '../replicas/replicas.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { realTimers } from '../util/timers.ts';
import { LoadKeyHash } from '../workers/load-key-hash.ts';
import { SharedLoads } from '../workers/shared-loads.ts';
import { readPinKeySecret } from './pin-key-secret.ts';
import { pinSweepSecs } from './pin-sweeps.ts';
import { loginPlacesOf } from './store-files.ts';
import { linkObserver, sharedPinObserver } from './store-observers.ts';

export interface SharedState {
  readonly pins: SharedPinStore;
  readonly link: RedisLink;
  /** For `/readiness`. */
  readonly facts: PinStoreFacts;
  /** Counters of the workers, which the replicas share. */
  readonly loads: SharedLoads;
  /** Begins to share loads and ends of requests. */
  join(ends: RequestEnds): Replicas;
  /** Of a reload. */
  configure(settings: Settings): void;
  close(): Promise<void>;
}

export interface SharedStateParts {
  /** Name of this replica. */
  readonly self: string;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

/**
 * Null where pins are kept in memory: then nothing of the client library is loaded.
 *
 * @throws AppError as `openRedis` and `readPinKeySecret` do, with nothing open
 */
export async function openSharedState(settings: Settings, parts: SharedStateParts): Promise<SharedState | null> {
  if (settings.pinStore === 'memory') return null;
  const { self, metrics, log, clock } = parts;
  const { openRedis } = await import('../redis/open-redis.ts');
  const { RedisPinBackend } = await import('../redis/redis-pin-backend.ts');
  const { RedisReplicaChannel } = await import('../redis/redis-replica-channel.ts');
  const { Replicas } = await import('../replicas/replicas.ts');
  const secret = readPinKeySecret(settings.pinKeyHmacFile);
  if (settings.tenantHeader !== null && secret === null) {
    log.warn(
      '--tenant-header without --pin-key-hmac-file: who guesses a key of another tenant can make it seem busier than it is',
    );
  }
  let current = settings;
  const link = openRedis(settings.pinStore, {
    self,
    prefix: settings.pinStorePrefix,
    ...loginPlacesOf(settings),
    claimTimeoutMs: () => timesOf(current).claimTimeoutMs,
    observer: linkObserver(metrics, log, clock),
  });
  const pins = new SharedPinStore(
    {
      backend: new RedisPinBackend(link),
      link,
      names: new PinNames(secret),
      observer: sharedPinObserver(metrics),
      timers: realTimers,
      clock,
    },
    { maxPins: settings.maxPins, ...timesOf(settings) },
  );
  metrics.pinsProvisional.onScrape(() => {
    metrics.pinsProvisional.cell().value = pins.provisional;
  });
  const loads = new SharedLoads(new LoadKeyHash(secret));
  let replicas: Replicas | null = null;
  return {
    pins,
    link,
    get facts() {
      return { state: link.state, subscribed: link.subscribed, provisional: pins.provisional };
    },
    loads,
    join(ends) {
      replicas = new Replicas({
        channel: new RedisReplicaChannel(link),
        loads,
        ends,
        metrics,
        log,
        clock,
        timers: realTimers,
      });
      return replicas;
    },
    configure(next) {
      current = next;
      pins.configure(timesOf(next));
    },
    async close() {
      replicas?.close();
      pins.close();
      await link.close();
    },
  };
}

/**
 * Resolves once the store can be asked, after `limitMs` at the latest: who answers Envoy earlier decides about keys that
 * other replicas have placed.
 */
export function untilReached({ link }: SharedState, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const stop = link.onState((state) => {
      if (state === 'up') done();
    });
    const timer = setTimeout(done, limitMs);
    if (link.state === 'up') done();
  });
}

/** A decision has 250 ms in all, and without one a request has no worker. */
const LONGEST_CLAIM_MS = 200;

/** Of pins. */
export function timesOf(settings: Settings) {
  const { maxIdleSecs, pinClaimTimeoutMs } = settings;
  const maxIdleMs = pinSweepSecs(settings) === 0 ? 0 : maxIdleSecs * 1000;
  return { maxIdleMs, claimTimeoutMs: Math.min(pinClaimTimeoutMs, LONGEST_CLAIM_MS) };
}
