import type { AddOutcome, DrainOutcome } from '../workers/fleet-changes.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { Worker, WorkerSource } from '../workers/worker.ts';
import type { ProbeReport } from '../workers/worker-instance.ts';
import type { WorkerSpec } from '../workers/worker-spec.ts';

/** What the admin API reads of a registration beyond its worker. */
export interface Registration {
  readonly worker: Worker;
  readonly spec: WorkerSpec;
  readonly lastProbe: ProbeReport | null;
}

/** What the admin API needs of the fleet. The registry is one. */
export interface FleetAdmin extends SnapshotSource {
  instance(id: string): Registration | undefined;
  add(spec: WorkerSpec, source: WorkerSource): AddOutcome;
  /** Another declaration for the worker at the URL of `spec`, in its place; undefined when there is none. */
  update(spec: WorkerSpec): Worker | undefined;
  /** As `update`, but as if it was newly added. */
  replace(spec: WorkerSpec): Worker | undefined;
  remove(id: string): 'removed' | 'draining' | 'unknown';
  drain(id: string): DrainOutcome;
  undrain(id: string): DrainOutcome;
}
