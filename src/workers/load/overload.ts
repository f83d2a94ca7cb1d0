import type { LoadReport } from '../engine-load.ts';

/** From which load on a worker takes no requests (policies 2.2); null: the signal does not count. */
export interface OverloadRule {
  /** Waiting requests, summed over ranks. */
  readonly waitingRequests: number | null;
  /** Share of the KV cache in use, mean over ranks. */
  readonly tokenUsage: number | null;
}

export const NO_OVERLOAD_RULE: OverloadRule = { waitingRequests: null, tokenUsage: null };

/** The rule for one worker: what it declares itself, signal by signal, over what holds for the fleet. */
export function ruleFor(fleet: OverloadRule, own: OverloadRule): OverloadRule {
  return {
    waitingRequests: own.waitingRequests ?? fleet.waitingRequests,
    tokenUsage: own.tokenUsage ?? fleet.tokenUsage,
  };
}

/** True when any signal counts, so that load reports are needed. */
export function isProtected(rule: OverloadRule): boolean {
  return rule.waitingRequests !== null || rule.tokenUsage !== null;
}

/** Both bounds are inclusive, and one signal is enough. Each report is judged on its own: there is no hysteresis. */
export function isOverloaded(report: LoadReport, { waitingRequests, tokenUsage }: OverloadRule): boolean {
  return (
    (waitingRequests !== null && report.waitingRequests >= waitingRequests) ||
    (tokenUsage !== null && report.tokenUsage >= tokenUsage)
  );
}
