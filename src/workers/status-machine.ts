import type { WorkerStatus } from './worker-kinds.ts';

/** States that probes move between; `draining` lies above them (policies 2.1). */
export type HealthStatus = Exclude<WorkerStatus, 'draining'>;

/** Consecutive probes that turn a worker ready, and not ready. Both at least 1. */
export interface HealthThresholds {
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/** Where a worker stands, and the runs that lead on from there. */
export interface HealthState {
  readonly status: HealthStatus;
  /** Successes in a row since the state was entered. */
  readonly successes: number;
  /** Failures in a row since the state was entered. */
  readonly failures: number;
  /** Probes counted since the state was entered. */
  readonly probes: number;
}

/** Bound of Pending, as a multiple of the failure threshold. */
const PENDING_PROBES = 10;
/** Bound of NotReady, as a multiple of the failure threshold. */
const NOT_READY_FAILURES = 3;

export const PENDING: HealthState = enter('pending');
export const READY: HealthState = enter('ready');

/**
 * State after one more probe (policies 2.1). A failed worker comes back as one that is not ready does: SMG 1.11.0 is seen
 * to probe it on and to use it again.
 *
 * @param counted false for an extra start-up probe, which may make a pending worker ready but does not bring it nearer
 * to `failed`
 */
export function afterProbe(
  state: HealthState,
  ok: boolean,
  { successThreshold, failureThreshold }: HealthThresholds,
  counted = true,
): HealthState {
  const { status } = state;
  const successes = ok ? state.successes + 1 : 0;
  const failures = ok ? 0 : state.failures + 1;
  const probes = state.probes + (counted ? 1 : 0);
  if (status === 'ready') {
    if (failures >= failureThreshold) return enter('not_ready');
  } else {
    if (successes >= successThreshold) return READY;
    if (isExhausted(status, probes, failures, failureThreshold)) return enter('failed');
  }
  return { status, successes, failures, probes };
}

function isExhausted(status: HealthStatus, probes: number, failures: number, failureThreshold: number): boolean {
  if (status === 'failed') return false;
  return status === 'pending'
    ? probes >= PENDING_PROBES * failureThreshold
    : failures >= NOT_READY_FAILURES * failureThreshold;
}

function enter(status: HealthStatus): HealthState {
  return { status, successes: 0, failures: 0, probes: 0 };
}
