import type { WorkerSnapshot } from './snapshot.ts';
import type { Worker } from './worker.ts';
import { rankId } from './worker-url.ts';

/**
 * The worker that Envoy means, which knows ranks only as the engine whose address they share.
 *
 * @param id of the worker or of its engine, empty when not told
 * @param address `ip:port`, empty when not told
 * @param rank data-parallel rank of the request, null for none
 */
export function servedWorker(
  fleet: WorkerSnapshot,
  id: string,
  address: string,
  rank: number | null,
): Worker | undefined {
  return fleet.byId(rankId(id, rank)) ?? fleet.byId(id) ?? fleet.byAddress(address, rank);
}
