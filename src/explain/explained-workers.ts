import type { Decision } from '../routing/decision.ts';
import type { Eligibility } from '../routing/eligibility.ts';
import type { Weight, WeightName } from '../routing/rehearsal.ts';
import type { Pool } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';
import type { ExplainedWorker, Obstacle } from './explanation.ts';

export interface WorkersQuestion {
  /** All of the leg's type, in the order of their registration. */
  readonly workers: readonly Worker[];
  /** The model's whole pool; undefined for a model without one. */
  readonly pool: Pool | undefined;
  /** The part of it that the leg was placed in. */
  readonly usable: Pool;
  readonly model: string;
  readonly candidates: readonly Worker[];
  readonly weights: readonly Weight[];
  readonly subset: Eligibility | null;
  /** Of the leg; null when it was not placed. */
  readonly decision: Decision | null;
}

/** Every worker of a leg: whether it could be chosen, why not, and what the policy went by. */
export function explainedWorkers(question: WorkersQuestion): readonly ExplainedWorker[] {
  const { workers, usable, candidates, weights, decision } = question;
  const members = new Set(usable.members);
  const named = decision === null ? [] : [decision.worker, ...decision.fallbacks];
  const places = new Map(named.map((worker, place) => [worker, place]));
  const columns = new Map(candidates.map((worker, column) => [worker, column]));
  return workers.map((worker) => ({
    worker_id: worker.id,
    worker: worker.name,
    place: places.get(worker) ?? null,
    eligible: columns.has(worker),
    keeps_pins: worker.keepsPins && members.has(worker),
    why_not: columns.has(worker) ? [] : obstacles(worker, members, question),
    status: worker.status,
    breaker: worker.breaker,
    in_flight: worker.load.requests,
    weights: weightsOf(weights, columns.get(worker)),
  }));
}

function obstacles(
  worker: Worker,
  members: ReadonlySet<Worker>,
  { pool, model, subset }: WorkersQuestion,
): readonly Obstacle[] {
  const found: Obstacle[] = [];
  const { models, status, address, breaker, overloaded } = worker;
  if (pool?.members.includes(worker) !== true) {
    const other = model === '' || models.length === 0 || models.includes(model);
    found.push(other ? 'other_protocol' : 'wrong_model');
  } else if (subset?.allows(worker) === false) found.push('not_in_subset');
  else if (!members.has(worker)) found.push('does_not_fit');
  if (status !== 'ready') found.push(status);
  if (address === '') found.push('no_address');
  if (breaker === 'open') found.push('breaker_open');
  if (overloaded) found.push('overloaded');
  // Nothing of its own: what it fits cannot take new keys.
  if (found.length === 0) found.push('does_not_fit');
  return found;
}

function weightsOf(weights: readonly Weight[], column: number | undefined): ExplainedWorker['weights'] {
  if (column === undefined) return {};
  const row: Partial<Record<WeightName, number | null>> = {};
  for (const { name, values } of weights) row[name] = values[column] ?? null;
  return row;
}
