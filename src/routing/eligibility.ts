import type { Pool } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';

/** Which workers one request may use at all, as the subset hint of a gateway says (endpoint-picker-protocol 2). */
export interface Eligibility {
  allows(worker: Worker): boolean;
}

/** What both allow; null: all workers. */
export function bothAllow(one: Eligibility | null, other: Eligibility | null): Eligibility | null {
  if (one === null || other === null) return one ?? other;
  return { allows: (worker) => one.allows(worker) && other.allows(worker) };
}

/**
 * The part of a pool that a request may use. `memberIds` stays the list of the whole pool, so that what is cached by it
 * (hash rings, length buckets) holds for both; a policy takes no id that is not among its candidates. Linear in the pool.
 */
export function eligiblePart({ model, members, memberIds, available }: Pool, eligible: Eligibility): Pool {
  return {
    model,
    members: members.filter((worker) => eligible.allows(worker)),
    memberIds,
    available: available.filter((worker) => eligible.allows(worker)),
  };
}
