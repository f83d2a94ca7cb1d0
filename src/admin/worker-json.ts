import type { Worker } from '../workers/worker.ts';
import type { Registration } from './fleet-admin.ts';
import { engineLoadJson, overloadJson } from './load-json.ts';

/** A worker as `GET /workers` shows it (interface 9, smg-observed 8). */
export function workerJson({ worker, spec, lastProbe }: Registration) {
  return {
    id: worker.id,
    url: worker.url,
    name: worker.name,
    status: worker.status,
    is_healthy: worker.status === 'ready',
    model_id: worker.models[0] ?? 'unknown',
    models: worker.models.map((id) => ({ id })),
    worker_type: worker.type,
    connection_mode: 'http',
    runtime_type: spec.runtimeType,
    bootstrap_port: spec.bootstrapPort,
    priority: worker.priority,
    cost: worker.cost,
    labels: worker.labels,
    source: worker.source,
    address: worker.address === '' ? null : worker.address,
    load: worker.load.requests,
    routing_keys: worker.load.distinctKeys,
    breaker: worker.breaker,
    overloaded: worker.overloaded,
    overload: overloadJson(spec.overload),
    load_monitor_interval_secs: spec.loadIntervalSecs,
    engine_load: engineLoadJson(worker.engine),
    last_probe: lastProbe === null ? null : probeJson(lastProbe),
  };
}

function probeJson(probe: NonNullable<Registration['lastProbe']>) {
  return {
    at: new Date(probe.at).toISOString(),
    ok: probe.ok,
    detail: probe.detail,
    duration_ms: Math.round(probe.durationMs * 1000) / 1000,
  };
}

/** How many workers there are of each type. */
export function workerStats(workers: readonly Worker[]) {
  const count = (type: Worker['type']) => workers.filter((worker) => worker.type === type).length;
  return { prefill_count: count('prefill'), decode_count: count('decode'), regular_count: count('regular') };
}
