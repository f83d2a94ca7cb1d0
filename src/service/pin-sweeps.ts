import type { Settings } from '../config/load-settings.ts';

/** Seconds between sweeps for idle pins; 0: they never end. `manual` may have an interval of its own (decisions 16). */
export function pinSweepSecs({ policy, evictionInterval, policyEvictionInterval }: Settings): number {
  return policy === 'manual' ? policyEvictionInterval : evictionInterval;
}
