import type { Request, StandOptions } from './scenario.ts';

/** A point in which the sides did not agree. */
export interface Difference {
  readonly scenario: string;
  readonly stand: StandOptions;
  /** Number of the step, from 1; 0 for what is compared after the last. */
  readonly step: number;
  /** The request, where the point belongs to one. */
  readonly request: Request | null;
  /** What was compared: `status`, `worker`, `error`, `stamp`, …, or a metric with its labels. */
  readonly point: string;
  readonly smg: string;
  readonly ours: string;
}

export function describeDifference(difference: Difference): string {
  const { step, request, point, smg, ours } = difference;
  const at = step === 0 ? 'after the run' : `step ${step}`;
  const asked = request === null ? '' : ` of ${JSON.stringify(request)}`;
  return `${at}: ${point}${asked}: SMG ${smg}, ours ${ours}`;
}
