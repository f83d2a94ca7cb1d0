import type { WorkerSnapshot } from './snapshot.ts';

/** Where readers of the fleet get it from. */
export interface SnapshotSource {
  /** The fleet now. */
  readonly current: WorkerSnapshot;
  /** True once every configured source was read for the first time: before that an empty fleet means "not known yet". */
  readonly settled: boolean;
  /** Calls `listener` after each change, with the new snapshot, and once when `settled` turns true. Answers with the undo. */
  subscribe(listener: (snapshot: WorkerSnapshot) => void): () => void;
}
