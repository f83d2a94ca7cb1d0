import type { BreakerRules } from './breaker.ts';
import type { FleetObserver } from './fleet-observer.ts';
import type { LoadTable } from './shared-loads.ts';
import type { WorkerSource } from './worker-kinds.ts';

export interface RegistryOptions {
  /** `--drain-settle-secs`, in milliseconds: longest wait of a removal for requests in flight. */
  readonly drainSettleMs?: number;
  /** `--drain-deadline-secs`, in milliseconds: longest life of pins on a draining worker. */
  readonly drainDeadlineMs?: number;
  /** `--remove-unhealthy-workers`; a source: only of its workers, which it brings back. */
  readonly removeFailed?: boolean | WorkerSource;
  readonly observer?: FleetObserver;
  /** `--cb-*` */
  readonly breaker?: BreakerRules;
  /** `--dp-aware`: the engine of a worker without a declared rank says whether it is one worker or one for each rank. */
  readonly dpAware?: boolean;
  /** Counts shared with other replicas; by default none are. */
  readonly loads?: LoadTable;
  /** `--pd-disaggregation` */
  readonly disaggregated?: boolean;
}
