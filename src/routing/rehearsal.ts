/**
 * A decision that is only rehearsed (`explain`): made as every other, told step by step, and nothing changes for it. What
 * listens travels with the placement, where real requests have null.
 */

import type { Leg } from './pin-key.ts';
import type { Placement, Policy } from './policy.ts';
import type { KeyRules } from './routing-keys.ts';
import type { Stickiness } from './stickiness.ts';

export interface Rehearsal {
  /** A leg is about to be placed. With workers that fit each other, a leg may be placed more than once: the last one holds. */
  placing(step: RehearsedStep): void;
  /** Something had to change until the decision is there, for what comes after it: `undo` is called then, the last one first. */
  changed(undo: () => void): void;
}

/** What a leg is placed by. Good for the time of the call: `policy.weigh` goes by what holds now. */
export interface RehearsedStep {
  readonly leg: Leg;
  readonly placement: Placement;
  readonly policy: Policy;
  readonly stickiness: Stickiness;
  readonly keys: KeyRules;
  /** The key that keeps the request on its worker, as it is looked up; null without one. */
  readonly key: string | null;
  /** See `Decision.pinKey`. */
  readonly pinKey: string | null;
  /** See `Decision.loadKey`. */
  readonly loadKey: string | null;
}

/** What policies go by. */
export const WEIGHT_NAMES = [
  'turn',
  'requests',
  'distinct_keys',
  'expected_wait_secs',
  'holds_prefix',
  'hot',
  'ring_order',
  'over_load_limit',
  'lengths_up_to',
  'recent_length',
  'range_is_its',
] as const;
export type WeightName = (typeof WEIGHT_NAMES)[number];

/** One thing that a policy goes by. */
export interface Weight {
  readonly name: WeightName;
  /** By place in the candidates; null where it says nothing, or rules the worker out. */
  readonly values: readonly (number | null)[];
}
