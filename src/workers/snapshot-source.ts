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

/** A source that also says whether its view of the fleet's health is worth anything yet. */
export interface JudgedSource extends SnapshotSource {
  /**
   * True from the moment at which every configured source was read and each worker known then had its first verdict:
   * ready, or a probe that failed. Before it, that nobody is available means "not known yet".
   */
  readonly judged: boolean;
}
