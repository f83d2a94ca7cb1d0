import { setTimeout as pause } from 'node:timers/promises';
import { EXPOSITION_CONTENT_TYPE } from '../telemetry/exposition.ts';
import { type Metrics, renderMetrics } from '../telemetry/metrics.ts';
import type { ProcessMetrics } from '../telemetry/process-metrics.ts';
import type { Route } from './route.ts';

/**
 * Envoy's log entry comes up to a few milliseconds after the client has its answer (envoy 9.1). So much later figures are
 * read, so that who asks right after an answer finds it counted.
 */
const LOG_LAG_MS = 8;

/** `GET /metrics`: ours, then those of the process. */
export function metricsRoute(metrics: Metrics, process: ProcessMetrics, access: Route['access']): Route {
  const handle = async (): Promise<Response> => {
    const ofProcess = await process.text();
    await pause(LOG_LAG_MS);
    const text = renderMetrics(metrics) + ofProcess;
    return new Response(text, { headers: { 'content-type': EXPOSITION_CONTENT_TYPE } });
  };
  return { method: 'GET', path: '/metrics', access, handle };
}
