import type { Log } from '../telemetry/log.ts';
import type { WorkerSnapshot } from '../workers/snapshot.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { Worker } from '../workers/worker.ts';

/**
 * Warns once of each worker whose address another one has: two names of one engine, or two spellings. To Envoy they are one
 * endpoint, which carries the name of the first. Answers with the undo.
 */
export function warnOfSharedAddresses(fleet: SnapshotSource, log: Log): () => void {
  const told = new Set<string>();
  const look = ({ workers }: WorkerSnapshot): void => {
    const firstAt = new Map<string, Worker>();
    const sharing = new Set<string>();
    for (const worker of workers) {
      const { id, url, address } = worker;
      if (address === '') continue;
      const first = firstAt.get(address);
      if (first === undefined) {
        firstAt.set(address, worker);
        continue;
      }
      // Ranks of one engine.
      if (first.url === url) continue;
      sharing.add(id);
      if (told.has(id)) continue;
      told.add(id);
      log.warn('a worker has the address of another: Envoy shows both as the first', {
        worker: id,
        address,
        reason: `shared with ${first.id}`,
      });
    }
    for (const id of told) if (!sharing.has(id)) told.delete(id);
  };
  look(fleet.current);
  return fleet.subscribe(look);
}
