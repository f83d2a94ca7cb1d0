import type { WorkerSpec } from './worker-spec.ts';

/**
 * What a source says of a worker now. `unready` keeps its place and its pins but gets no requests; `leaving` drains
 * without regard to pins for as long as the source names it. A worker enters the fleet while it is `up`.
 */
export type SourceState = 'up' | 'unready' | 'leaving';

/** One life of a worker. */
export interface Incarnation {
  readonly spec: WorkerSpec;
  /** Another value at the same URL is another worker, which begins anew. */
  readonly incarnation: string;
}

/** A worker as its source tells of it. */
export interface SourcedWorker extends Incarnation {
  readonly state: SourceState;
}

/** A worker of a source that knows no more than its declaration. */
export function declared(spec: WorkerSpec): SourcedWorker {
  return { spec, state: 'up', incarnation: '' };
}
