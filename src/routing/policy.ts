import type { RequestHead } from '../request/request-head.ts';
import type { RoutingRequest } from '../request/routing-request.ts';
import { readTargetWorker } from '../request/target-worker.ts';
import type { Random } from '../util/random.ts';
import type { Pool } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';
import type { Trail } from './decision.ts';
import type { PolicyFacts } from './policy-facts.ts';
import type { PolicyName } from './policy-name.ts';
import type { Rehearsal, Weight } from './rehearsal.ts';

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
  /** Not null: nobody sent the request, and nothing may change for it. */
  readonly rehearsal: Rehearsal | null;
}

/** The same placement, with others to choose from. */
export function among(
  { request, pool, now, random, trail, keyStart, rehearsal }: Placement,
  candidates: readonly Worker[],
): Placement {
  return { request, pool, candidates, now, random, trail, keyStart, rehearsal };
}

/** True when the client named the one worker that may serve. */
export function isStrict({ facts }: Policy, head: RequestHead): boolean {
  return facts.takesTarget && readTargetWorker(head) !== null;
}

/** Chooses a worker for a request. Knows nothing of stickiness, which stands above it. */
export interface Policy {
  readonly name: PolicyName;
  readonly facts: PolicyFacts;
  /**
   * One of `candidates`, or null when the policy declines. May advance the policy's own state. In a rehearsal it changes
   * none, and answers what it would answer next.
   */
  pick(placement: Placement): Worker | null;
  /** The next best of `candidates` that is not in `taken`, null when none is left. Changes no state. */
  next(placement: Placement, taken: readonly Worker[]): Worker | null;
  /** What the policy remembers, kept within its bounds; null when it remembers nothing that grows. */
  readonly memory: PolicyMemory | null;
  /** What the policy goes by, in words that `explain` shows; absent where it goes by nothing. Changes no state, and may take its time. */
  weigh?(placement: Placement): readonly Weight[];
}

/** The part of a policy that learns where prompts were and forgets again. */
export interface PolicyMemory {
  /** The request went to `worker` by its pin, without the policy (sticky-sessions P11). */
  learn(placement: Placement, worker: Worker): void;
  /** The worker has left the fleet. */
  forget(workerId: string): void;
  /**
   * One short piece of the housekeeping that is due every `--eviction-interval`; true when more is left.
   *
   * @param now milliseconds, monotonic
   */
  tend(now: number): boolean;
  /** What the memory holds, for the gauges. */
  sizes(): readonly MemorySize[];
}

/** Size of the memory for one model. A kind that the policy does not have is null. */
export interface MemorySize {
  readonly model: string;
  /** Characters in the text tree, summed over workers. */
  readonly chars: number | null;
  /** Tokens in the token tree, summed over workers. */
  readonly tokens: number | null;
  /** Workers that the text tree knows: all of the model, whether they hold something or not, as SMG's gauge has it. */
  readonly textHolders: number | null;
  /** Workers that hold something in the token tree. */
  readonly tokenHolders: number | null;
  /** Entries of the hash index. */
  readonly placements: number | null;
}
