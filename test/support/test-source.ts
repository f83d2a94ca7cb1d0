import type { WorkerSnapshot } from '../../src/workers/snapshot.ts';
import type { SnapshotSource } from '../../src/workers/snapshot-source.ts';
import type { Worker } from '../../src/workers/worker.ts';
import { makeSnapshot } from './fleet.ts';

/** A fleet that a test changes by hand. */
export class TestSource implements SnapshotSource {
  current: WorkerSnapshot = makeSnapshot([]);
  settled = true;
  readonly listeners = new Set<(snapshot: WorkerSnapshot) => void>();

  subscribe(listener: (snapshot: WorkerSnapshot) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  set(...workers: Worker[]): void {
    this.current = makeSnapshot(workers, this.current.version + 1);
    this.#tell();
  }

  settle(): void {
    this.settled = true;
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.listeners) listener(this.current);
  }
}
