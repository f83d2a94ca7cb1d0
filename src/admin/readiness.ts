import type { RunningSource } from '../discovery/source.ts';
import type { StoreState } from '../pins/shared/pin-backend.ts';
import type { WorkerSnapshot } from '../workers/snapshot.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { WorkerType } from '../workers/worker-kinds.ts';

/**
 * How the service learns that a request has ended (decisions 7): Envoy's access log, the end of an ext_proc stream that
 * is held to the end, or only the age of the pick.
 */
export type EndOfRequestSource = 'access_log' | 'stream' | 'age';

export interface ServiceState {
  /** The service is on its way out. */
  readonly draining: boolean;
  /** Sources of workers that are read while the service runs. */
  readonly sources: readonly Pick<RunningSource, 'name' | 'health' | 'problem'>[];
  readonly endOfRequest: EndOfRequestSource;
  /** The store that replicas share; null where each keeps its own pins. */
  readonly pinStore: PinStoreFacts | null;
}

export interface PinStoreFacts {
  readonly state: StoreState;
  /** Changes of other replicas are heard. */
  readonly subscribed: boolean;
  /** Pins that only this replica knows. */
  readonly provisional: number;
}

export type NotReadyReason = 'draining' | 'sources_not_read' | 'no_ready_worker';

/** Why the service should get no traffic now; null when it should. */
export function notReadyReason(fleet: SnapshotSource, state: ServiceState): NotReadyReason | null {
  if (state.draining) return 'draining';
  if (!fleet.settled) return 'sources_not_read';
  return canServe(fleet.current) ? null : 'no_ready_worker';
}

/** Some worker is ready, of a fleet that is split one of each leg (as the real SMG). */
function canServe(fleet: WorkerSnapshot): boolean {
  const types: readonly WorkerType[] = fleet.disaggregated ? ['prefill', 'decode'] : ['regular'];
  const ready = fleet.workers.filter((worker) => worker.status === 'ready' && fleet.serves(worker));
  return types.every((type) => ready.some((worker) => worker.type === type));
}

/** Body of `GET /readiness`: SMG's members, and the source of request ends. */
export function readinessJson(fleet: SnapshotSource, state: ServiceState) {
  const reason = notReadyReason(fleet, state);
  const { workers } = fleet.current;
  return {
    status: reason === null ? 'ready' : 'not_ready',
    ...(reason === null ? {} : { reason }),
    healthy_workers: workers.filter((worker) => worker.status === 'ready').length,
    total_workers: workers.length,
    end_of_request_source: state.endOfRequest,
    // One that is away takes no traffic away: pins go on here.
    ...(state.pinStore === null
      ? {}
      : {
          pin_store: state.pinStore.state,
          pin_store_subscribed: state.pinStore.subscribed,
          provisional_pins: state.pinStore.provisional,
        }),
    ...(state.sources.length === 0 ? {} : { worker_sources: state.sources.map(sourceJson) }),
  };
}

/** A source that cannot be read is told, but takes no traffic away: what it said last holds. */
function sourceJson({ name, health, problem }: ServiceState['sources'][number]) {
  return { source: name, status: health, ...(problem === null ? {} : { problem }) };
}
