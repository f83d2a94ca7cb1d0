import type { NamePool } from '../discovery/dns/name-pool.ts';
import type { AddOutcome, DrainOutcome } from '../workers/fleet-changes.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { Worker } from '../workers/worker.ts';
import type { Drain, ProbeReport } from '../workers/worker-instance.ts';
import type { WorkerSource } from '../workers/worker-kinds.ts';
import type { WorkerSpec } from '../workers/worker-spec.ts';

/** What the admin API reads of a registration beyond its worker. */
export interface Registration {
  readonly worker: Worker;
  readonly spec: WorkerSpec;
  readonly lastProbe: ProbeReport | null;
  /** How it is leaving, null when it is not. */
  readonly drain: Drain | null;
}

/** What the admin API needs of names that stand for several workers. */
export interface NamesAdmin {
  /** False when it is known. */
  add(pool: NamePool): boolean;
  /** False when it is not known. */
  remove(id: string): boolean;
  /** Ids of its workers; undefined when it is not known. */
  workersOf(id: string): readonly string[] | undefined;
}

/** What the admin API needs of the fleet. The registry is one. */
export interface FleetAdmin extends SnapshotSource {
  /** Whether a worker may be declared as a data-parallel rank (`--dp-aware`). */
  readonly dpAware: boolean;
  instance(id: string): Registration | undefined;
  /** The worker of that id, or all ranks of the engine at that base URL; empty when there is neither. */
  named(id: string): readonly Registration[];
  add(spec: WorkerSpec, source: WorkerSource): AddOutcome;
  /** Another declaration for the workers named by the URL of `spec`, in their place; undefined when there is none. */
  update(spec: WorkerSpec): Worker | undefined;
  /** As `update`, but as if it was newly added. */
  replace(spec: WorkerSpec): Worker | undefined;
  remove(id: string): 'removed' | 'draining' | 'unknown';
  drain(id: string): DrainOutcome;
  undrain(id: string): DrainOutcome;
}
