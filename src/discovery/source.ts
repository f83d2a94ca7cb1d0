/** The ports of this room: what a source reads goes to the registry, what happens on the way to an observer. */
import type { SourceChanges } from '../workers/fleet-changes.ts';
import type { SourcedWorker } from '../workers/sourced-worker.ts';

/** Sources that are read while the service runs, in the order in which readiness and metrics name them. */
export const DISCOVERY_SOURCES = ['kubernetes', 'dns', 'workers_file'] as const;
export type DiscoverySource = (typeof DISCOVERY_SOURCES)[number];

/** Where sources put the workers they find, each time all of them. The registry is one. */
export interface WorkerSink {
  followSource(source: DiscoverySource, workers: readonly SourcedWorker[]): SourceChanges;
}

/**
 * How a source is doing: `unread` before it was read once, `stale` while it cannot be read and what it said last holds.
 */
export type SourceHealth = 'unread' | 'live' | 'stale';

/** A source that is being read. */
export interface RunningSource {
  readonly name: DiscoverySource;
  readonly health: SourceHealth;
  /** Why it cannot be read; null while it can. */
  readonly problem: string | null;
  /** Says again what it found last, so that a worker that was lost otherwise comes back. */
  reconcile(): void;
  close(): void;
}

/** What a source met that is worth counting. */
export const DISCOVERY_EVENTS = ['added', 'modified', 'deleted', 'bookmark', 'listed', 'resumed', 'expired'] as const;
export type DiscoveryEvent = (typeof DISCOVERY_EVENTS)[number];

/** Is told what sources do, for counting and logging. None of these may throw. */
export interface DiscoveryObserver {
  event(source: DiscoverySource, event: DiscoveryEvent): void;
  /** The registry was told what a source says. `found`: its workers, whoever declared them first. */
  applied(source: DiscoverySource, changes: SourceChanges, found: number, durationMs: number): void;
  /** A source could not be read. */
  failed(source: DiscoverySource, problem: string): void;
  /** Its health has changed. */
  turned(source: DiscoverySource, health: SourceHealth, problem: string | null): void;
  /** Something of a source is left out, or read in another way than it is written. */
  noted(source: DiscoverySource, subject: string, reason: string): void;
}
