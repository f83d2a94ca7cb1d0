/** What the shared store and its pins report, as metrics and log lines. */
import { STORE_STATES, type StoreErrorReason, type StoreState } from '../pins/shared/pin-backend.ts';
import { ASK_RESULTS, type SharedPinObserver, SYNC_RESULTS } from '../pins/shared/pin-observer.ts';
import type { LinkObserver } from '../redis/link-observer.ts';
import type { Log, LogFields } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { LineLimit } from './line-limit.ts';

/** What an operator can do about it. */
const CURES: Readonly<Record<StoreErrorReason, string>> = {
  auth: 'check user and password: --pin-store, --pin-store-username, --pin-store-password-file, and the rights of the user',
  readonly:
    'name the master, or Sentinels or a Cluster, which know it; a master may refuse, too, for want of replicas or disk',
  full: 'raise its maxmemory, or set maxmemory-policy to volatile-ttl',
  timeout: 'see how busy it is, and the network to it',
  connection: 'check that it runs, its address in --pin-store, and the network to it',
  tls: 'check --pin-store-ca-path and the name in its certificate',
  cluster: 'see CLUSTER INFO: all slots must be served',
  loading: 'it reads its data and answers when it is through',
  script: 'it must be Redis 6 or newer, or Valkey, and the user may run EVAL and EVALSHA',
  other: 'see its log',
};

/**
 * Lines that repeat themselves, as of a store that flaps, come apart, with how often each was due. How it stands in the end is told
 * with what is heard next of it, which is within seconds.
 *
 * @param clock milliseconds, monotonic
 */
export function linkObserver(metrics: Metrics, log: Log, clock: () => number): LinkObserver {
  const probes = metrics.pinStoreProbeSeconds.cell();
  const subscribed = metrics.pinStoreSubscribed.cell();
  const limit = new LineLimit();
  /** It was told that changes are not heard. */
  let deaf = false;
  let state: StoreState = 'down';
  let told: StoreState = 'down';
  const show = (): void => {
    for (const each of STORE_STATES) metrics.pinStoreState.cell(each).value = each === state ? 1 : 0;
  };
  const tell = (): void => {
    if (state === told) return;
    const times = limit.take(state, clock());
    if (times === 0) return;
    const fields = often(times);
    if (state === 'up') log.info('the pin store answers; pins are shared', { reason: `was ${told}`, ...fields });
    else if (state === 'slow')
      log.warn('the pin store answers too late to be waited for; new pins are shared behind', fields);
    else log.warn('the pin store is away; new pins are shared when it is back', fields);
    told = state;
  };
  show();
  return {
    stateChanged: (next) => {
      state = next;
      show();
      metrics.pinStoreStateChanges.cell(next).value += 1;
      limit.happened(next);
      tell();
    },
    troubled: (reason, message) => {
      const kind = `trouble ${reason}`;
      limit.happened(kind);
      const times = limit.take(kind, clock());
      if (times > 0) log.warn(`the pin store: ${message}; ${CURES[reason]}`, { reason, ...often(times) });
    },
    connected: () => {
      metrics.pinStoreConnects.cell().value += 1;
    },
    subscribed: () => {
      subscribed.value = 1;
      if (deaf) log.info('changes of pins by other replicas are heard again');
      deaf = false;
    },
    unsubscribed: (reason, message) => {
      subscribed.value = 0;
      limit.happened('unsubscribed');
      const times = limit.take('unsubscribed', clock());
      if (times === 0) return;
      deaf = true;
      const fields = { reason, ...often(times) };
      log.warn(`changes of pins by other replicas are not heard: ${message}; ${CURES[reason]}`, fields);
    },
    probed: (ms) => {
      probes.observe(ms / 1000);
      tell();
    },
    failed: (reason) => {
      metrics.pinStoreErrors.cell(reason).value += 1;
      tell();
    },
    gap: () => {
      metrics.pinStoreGaps.cell().value += 1;
    },
  };
}

function often(times: number): LogFields {
  return times > 1 ? { count: times } : {};
}

export function sharedPinObserver(metrics: Metrics): SharedPinObserver {
  const asks = new Map(ASK_RESULTS.map((result) => [result, metrics.pinAsks.cell(result)]));
  const syncs = new Map(SYNC_RESULTS.map((result) => [result, metrics.pinSyncs.cell(result)]));
  const seconds = metrics.pinAskSeconds.cell();
  return {
    asked: (result, ms) => {
      const cell = asks.get(result);
      if (cell !== undefined) cell.value += 1;
      if (result !== 'behind') seconds.observe(ms / 1000);
    },
    synced: (result) => {
      const cell = syncs.get(result);
      if (cell !== undefined) cell.value += 1;
    },
  };
}
