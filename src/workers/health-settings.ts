import type { HealthThresholds } from './status-machine.ts';

/** How a worker is probed. */
export interface HealthSettings extends HealthThresholds {
  /** False: never probed, ready as soon as its models were asked for (`--disable-health-check`). */
  readonly enabled: boolean;
  /** Path of the probe (`--health-check-endpoint`). */
  readonly endpoint: string;
  readonly timeoutSecs: number;
  readonly intervalSecs: number;
}

/** What one worker does differently; null keeps the fleet's value. */
export interface HealthOverrides {
  readonly enabled: boolean | null;
  readonly endpoint: string | null;
  readonly timeoutSecs: number | null;
  readonly intervalSecs: number | null;
  readonly successThreshold: number | null;
  readonly failureThreshold: number | null;
}

export const DEFAULT_HEALTH: HealthSettings = {
  enabled: true,
  endpoint: '/health',
  timeoutSecs: 5,
  intervalSecs: 60,
  successThreshold: 2,
  failureThreshold: 3,
};

export function effectiveHealth(fleet: HealthSettings, worker: HealthOverrides): HealthSettings {
  return {
    enabled: worker.enabled ?? fleet.enabled,
    endpoint: worker.endpoint ?? fleet.endpoint,
    timeoutSecs: worker.timeoutSecs ?? fleet.timeoutSecs,
    intervalSecs: worker.intervalSecs ?? fleet.intervalSecs,
    successThreshold: worker.successThreshold ?? fleet.successThreshold,
    failureThreshold: worker.failureThreshold ?? fleet.failureThreshold,
  };
}
