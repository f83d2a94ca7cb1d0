import type { Hono } from 'hono';
import type { ApiKey } from '../config/text-types.ts';
import type { Explainer } from '../explain/explainer.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ProcessMetrics } from '../telemetry/process-metrics.ts';
import type { AskWorker } from '../workers/ask-worker.ts';
import type { WorkerScheme } from '../workers/worker-url.ts';
import { BearerKeys } from './bearer-keys.ts';
import type { PinCensus } from './dashboard/pin-census.ts';
import { dashboardRoutes, type PageParts } from './dashboard/routes.ts';
import { type DecisionRouteParts, decisionRoutes } from './decision-routes.ts';
import { explainRoute } from './explain-route.ts';
import type { FleetAdmin, NamesAdmin } from './fleet-admin.ts';
import { flushRoute } from './flush-cache.ts';
import { loadsJson } from './load-json.ts';
import { metricsRoute } from './metrics-route.ts';
import { type PinAdminParts, pinRoutes } from './pin-routes.ts';
import { probeRoutes } from './probe-routes.ts';
import type { ServiceState } from './readiness.ts';
import type { AdminEnv, Route } from './route.ts';
import { createRouter } from './router.ts';
import { workerRoutes } from './worker-routes.ts';

export interface MetricsParts {
  readonly metrics: Metrics;
  readonly processMetrics: ProcessMetrics;
  readonly log: Log;
}

export interface AdminParts extends MetricsParts, Omit<PinAdminParts, 'fleet' | 'log'> {
  readonly fleet: FleetAdmin;
  readonly names: NamesAdmin;
  /** Schemes of workers that Envoy is configured for. */
  readonly schemes: ReadonlySet<WorkerScheme>;
  readonly ask: AskWorker;
  readonly decisions: DecisionRouteParts;
  readonly explainer: Pick<Explainer, 'explain'>;
  readonly dashboard: PageParts;
  readonly census: Pick<PinCensus, 'look'>;
  readonly state: () => ServiceState;
  /** Effective settings as plain data, secrets masked. */
  readonly config: () => unknown;
  /** `--control-plane-api-keys`; with none, every route is open. */
  readonly keys: readonly ApiKey[];
  readonly version: string;
  /** Seconds since the epoch. */
  readonly startedAt: number;
}

export type AdminApp = Hono<AdminEnv>;

/**
 * The admin API (interface 9). Once keys are configured, reading needs any of them and changing needs one with the role
 * admin; only the probes stay open.
 */
export function createAdminApp(parts: AdminParts): AdminApp {
  const { fleet, metrics, processMetrics, log } = parts;
  const routes: readonly Route[] = [
    ...probeRoutes(fleet, parts.state),
    metricsRoute(metrics, processMetrics, 'user'),
    ...workerRoutes(fleet, parts.names, log, parts.schemes, parts.census),
    ...pinRoutes(parts),
    ...decisionRoutes(parts.decisions),
    explainRoute(parts.explainer),
    flushRoute(fleet, log, parts.ask),
    {
      method: 'GET',
      path: '/get_loads',
      access: 'user',
      handle: () => Response.json(loadsJson(fleet.current.workers, parts.version, new Date())),
    },
    { method: 'GET', path: '/v1/models', access: 'user', handle: () => modelList(fleet, parts.startedAt) },
    { method: 'GET', path: '/config', access: 'user', handle: () => Response.json(parts.config()) },
    ...dashboardRoutes({ ...parts, ...parts.dashboard, keysNeeded: parts.keys.length > 0 }),
  ];
  return createRouter(routes, new BearerKeys(parts.keys), log);
}

/** What `--prometheus-port` serves: `/metrics`, without a key, and nothing else. */
export function createMetricsApp({ metrics, processMetrics, log }: MetricsParts): AdminApp {
  return createRouter([metricsRoute(metrics, processMetrics, 'open')], new BearerKeys([]), log);
}

/** The models of the ready workers, as OpenAI's API lists models. */
function modelList(fleet: FleetAdmin, created: number): Response {
  const data = fleet.current.models.map((id) => ({ id, object: 'model', created, owned_by: 'smg-envoy' }));
  return Response.json({ object: 'list', data });
}
