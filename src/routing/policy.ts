import type { RoutingRequest } from '../request/routing-request.ts';
import type { Random } from '../util/random.ts';
import type { Pool } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';
import type { Trail } from './decision.ts';
import type { PolicyName } from './policy-name.ts';

/** What a policy may look at. Time and randomness come in here; a policy does no I/O. */
export interface Placement {
  readonly request: RoutingRequest;
  readonly pool: Pool;
  /** Workers to choose from, never empty, in registration order. */
  readonly candidates: readonly Worker[];
  /** Milliseconds, monotonic. */
  readonly now: number;
  readonly random: Random;
  /** Where the policy notes why it chose; becomes part of the decision. */
  readonly trail: Trail;
  /** Where the request's sticky key starts in lists (see `startOf`), -1 without one. */
  readonly keyStart: number;
}

/** Chooses a worker for a request. Knows nothing of stickiness, which stands above it. */
export interface Policy {
  readonly name: PolicyName;
  /** True when the choice depends on the prompt, so that the body must be read. */
  readonly needsPrompt: boolean;
  /** One of `candidates`, or null when the policy declines. May advance the policy's own state. */
  pick(placement: Placement): Worker | null;
  /** The next best of `candidates` that is not in `taken`, null when none is left. Changes no state. */
  next(placement: Placement, taken: readonly Worker[]): Worker | null;
}
