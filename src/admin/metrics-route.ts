import { EXPOSITION_CONTENT_TYPE } from '../telemetry/exposition.ts';
import { type Metrics, renderMetrics } from '../telemetry/metrics.ts';
import type { ProcessMetrics } from '../telemetry/process-metrics.ts';
import type { Route } from './route.ts';

/** `GET /metrics`: ours, then those of the process. */
export function metricsRoute(metrics: Metrics, process: ProcessMetrics, access: Route['access']): Route {
  const handle = async (): Promise<Response> => {
    const text = renderMetrics(metrics) + (await process.text());
    return new Response(text, { headers: { 'content-type': EXPOSITION_CONTENT_TYPE } });
  };
  return { method: 'GET', path: '/metrics', access, handle };
}
