import type { PinStore } from '../../pins/pin-store.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { SnapshotSource } from '../../workers/snapshot-source.ts';
import type { Caller } from '../bearer-keys.ts';
import { notReadyReason, type ServiceState } from '../readiness.ts';
import type { EnvoyFacts } from './envoy-facts.ts';
import type { CounterSeries } from './series.ts';
import { type WarningFacts, warningsOf } from './warnings.ts';

export interface OverviewParts {
  readonly fleet: SnapshotSource;
  readonly pins: Pick<PinStore, 'size' | 'kind' | 'evicted'>;
  readonly metrics: Metrics;
  readonly state: () => ServiceState;
  readonly version: string;
  /** Seconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
  readonly envoy: () => EnvoyFacts;
  readonly series: CounterSeries;
  readonly setUp: () => Pick<WarningFacts, 'needsLoads' | 'transport' | 'adminIsOpen' | 'certificates'>;
  /** Keys of tenants are apart (`--tenant-header`). */
  readonly tenants: () => boolean;
}

/** All of the page but workers, pins and decisions, which have routes of their own. */
export function overviewJson(parts: OverviewParts, caller: Caller | null, keysNeeded: boolean, now: number) {
  const { fleet, pins, metrics, state, series } = parts;
  const { workers, disaggregated } = fleet.current;
  const service = state();
  const envoy = parts.envoy();
  const reason = notReadyReason(fleet, service);
  const recent = {
    decisions: series.grown('decisions'),
    refused: series.grown('refused'),
    passed: series.grown('passed'),
  };
  const warnings = warningsOf({
    ...parts.setUp(),
    fleet,
    state: service,
    envoy,
    recent,
    bodyOverridesIgnored: metrics.bodyOverridesIgnored.cell().value,
    reloadFailures: metrics.configReloadFailures.cell().value,
    now,
  });
  return {
    version: parts.version,
    started_at: new Date(parts.startedAt * 1000).toISOString(),
    at: new Date(now).toISOString(),
    status: reason === null ? 'ready' : 'not_ready',
    reason,
    caller: caller === null ? null : { id: caller.id, role: caller.role },
    keys_needed: keysNeeded,
    disaggregated,
    tenants: parts.tenants(),
    workers: {
      total: workers.length,
      ready: workers.filter(({ status }) => status === 'ready').length,
      draining: workers.filter(({ status }) => status === 'draining').length,
      in_flight: workers.reduce((sum, { load }) => sum + load.requests, 0),
    },
    pins: {
      total: pins.size,
      store: pins.kind,
      evicted: pins.evicted,
      state: service.pinStore?.state ?? null,
      subscribed: service.pinStore?.subscribed ?? null,
    },
    envoy: {
      connections: envoy.connections,
      open_calls: envoy.openCalls,
      log_streams: envoy.logStreams,
      end_of_request_source: service.endOfRequest,
      eds: {
        version: envoy.endpoints.version,
        acks: envoy.endpoints.acks,
        nacks: envoy.endpoints.nacks,
        last_nack: envoy.endpoints.lastNack,
        clients: envoy.endpoints.clients,
      },
    },
    recent,
    warnings,
  };
}
