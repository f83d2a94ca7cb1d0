import { connectorOf, pairingText } from '../workers/leg-facts.ts';
import { NO_MODEL } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';
import type { WorkerSpec } from '../workers/worker-spec.ts';
import { isGrpc } from '../workers/worker-url.ts';
import type { PinCount } from './dashboard/pin-census.ts';
import type { Registration } from './fleet-admin.ts';
import { engineLoadJson, overloadJson } from './load-json.ts';

/**
 * A worker as `GET /workers` shows it (interface 9, smg-observed 8).
 *
 * @param pins the last count of all pins; null before the first
 */
export function workerJson({ worker, spec, lastProbe }: Registration, pins: PinCount | null) {
  return {
    id: worker.id,
    url: worker.id,
    ...rankJson(worker),
    name: worker.name,
    status: worker.status,
    is_healthy: worker.status === 'ready',
    model_id: worker.models[0] ?? NO_MODEL,
    models: worker.models.map((id) => ({ id })),
    worker_type: worker.type,
    connection_mode: isGrpc(spec.url.scheme) ? 'grpc' : 'http',
    runtime_type: spec.runtimeType ?? worker.legFacts?.runtime ?? null,
    bootstrap_port: spec.bootstrapPort,
    ...legJson(worker, spec),
    priority: worker.priority,
    cost: worker.cost,
    labels: worker.labels,
    source: worker.source,
    address: worker.address === '' ? null : worker.address,
    load: worker.load.requests,
    own_load: worker.load.ownRequests,
    routing_keys: worker.load.distinctKeys,
    own_routing_keys: worker.load.ownDistinctKeys,
    breaker: worker.breaker,
    overloaded: worker.overloaded,
    overload: overloadJson(spec.overload),
    load_monitor_interval_secs: spec.loadIntervalSecs,
    engine_load: engineLoadJson(worker.engine),
    pins: pins === null ? null : (pins.byWorker.get(worker.id) ?? 0),
    last_probe: lastProbe === null ? null : probeJson(lastProbe),
  };
}

/** SMG's members of a prefill or decode worker; those of the connector only where they were declared. */
function legJson({ legFacts }: Worker, spec: WorkerSpec) {
  if (legFacts === null) return {};
  const connector = connectorOf(spec);
  return {
    ...(connector === null ? {} : { kv_connector: connector }),
    ...(legFacts.engineId === null ? {} : { kv_engine_id: legFacts.engineId }),
    pd_pairing: pairingText(legFacts),
  };
}

/** SMG's members of a data-parallel rank; other workers have none of them. */
function rankJson({ url, rank, dpSize }: Worker) {
  return rank === null ? {} : { dp_base_url: url, dp_rank: rank, dp_size: dpSize };
}

/** An engine as `GET /workers/{base URL}` shows it: ready when all of its ranks are. */
export function engineJson(id: string, ranks: readonly Registration[], pins: PinCount | null) {
  const notReady = ranks.find(({ worker }) => worker.status !== 'ready');
  return {
    id,
    url: id,
    status: notReady?.worker.status ?? 'ready',
    is_healthy: notReady === undefined,
    dp_size: ranks[0]?.worker.dpSize ?? null,
    ranks: ranks.map((rank) => workerJson(rank, pins)),
  };
}

/** A name that stands for several workers as `GET /workers/{id}` shows it: ready when one of them is. */
export function poolJson(id: string, found: readonly Registration[], pins: PinCount | null) {
  const ready = found.some(({ worker }) => worker.status === 'ready');
  return {
    id,
    url: id,
    status: ready ? 'ready' : 'pending',
    is_healthy: ready,
    workers: found.map((each) => workerJson(each, pins)),
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
