import { readAssets } from '../admin/dashboard/assets.ts';
import { decisionCounters } from '../admin/dashboard/decision-counters.ts';
import type { PageParts } from '../admin/dashboard/routes.ts';
import { CounterSeries, STEP_SECS } from '../admin/dashboard/series.ts';
import { isLoopback } from '../config/cross-checks.ts';
import type { Settings } from '../config/load-settings.ts';
import type { EndpointService } from '../envoy/endpoints/endpoint-service.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Transport } from '../transport/transport.ts';
import type { LogStreams } from '../workers/in-flight-ledger.ts';
import type { FleetPolicies } from './fleet-policies.ts';

export interface DashboardSources {
  /** Those in force. */
  readonly settings: () => Settings;
  readonly metrics: Metrics;
  readonly policies: Pick<FleetPolicies, 'needsLoads'>;
  /** Somebody begins to look at the page, or nobody does any more. */
  readonly watchChanged: () => void;
  readonly envoy: {
    readonly endpoints: EndpointService;
    readonly transport: Transport;
    readonly logStreams: LogStreams;
  };
}

/** Who looks at the page asks at least as often. */
const WATCHED_MS = 15_000;
/** Where the build lays the page; beside the sources there is none. */
const PAGE = new URL('../dashboard/', import.meta.url);

/** What the page shows that nobody else needs. Its points are taken all the time, so that a page just opened has a past. */
export function createDashboard(sources: DashboardSources) {
  const { settings, metrics, policies, watchChanged } = sources;
  const { endpoints, transport, logStreams } = sources.envoy;
  const series = new CounterSeries(decisionCounters(metrics), Date.now() / 1000);
  const sampling = setInterval(() => series.sample(Date.now() / 1000), STEP_SECS * 1000);
  let unwatched: NodeJS.Timeout | null = null;
  return {
    /** Somebody looks, and wants to see loads (decisions 10). */
    get watched(): boolean {
      return unwatched !== null;
    },
    looked: () => {
      const first = unwatched === null;
      clearTimeout(unwatched ?? undefined);
      unwatched = setTimeout(() => {
        unwatched = null;
        watchChanged();
      }, WATCHED_MS);
      if (first) watchChanged();
    },
    assets: readAssets(PAGE),
    series,
    envoy: () => ({
      connections: transport.openConnections,
      openCalls: transport.openCalls,
      logStreams: logStreams.logStreams,
      endpoints,
    }),
    setUp: () => {
      const { adminHost, controlPlaneApiKeys, transport: kind } = settings();
      return {
        needsLoads: policies.needsLoads,
        transport: kind,
        adminIsOpen: !isLoopback(adminHost) && controlPlaneApiKeys.length === 0,
        certificates: [],
      };
    },
    tenants: () => settings().tenantHeader !== null,
    close: () => {
      clearInterval(sampling);
      clearTimeout(unwatched ?? undefined);
    },
  } satisfies PageParts & { readonly watched: boolean; close(): void };
}
