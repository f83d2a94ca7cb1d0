import type { PolicyName } from './policy-name.ts';

/** What a policy goes by, for whoever decides what it has to be given. */
export interface PolicyFacts {
  /** The choice depends on the prompt, so that the body must be read. */
  readonly needsPrompt: boolean;
  /** The choice looks at the engines' load reports, so that they must be asked for. */
  readonly needsLoads: boolean;
  /** The choice itself goes by the routing key; where there is one, it stands for the prompt too. */
  readonly readsKey: boolean;
  /** A client may name the one worker that serves (`x-smg-target-worker`). */
  readonly takesTarget: boolean;
  /** What keeps keys on their workers: the sticky override where that is on, pins of the policy's own, or nothing. */
  readonly pins: 'override' | 'own' | 'none';
}

const PLAIN: PolicyFacts = {
  needsPrompt: false,
  needsLoads: false,
  readsKey: false,
  takesTarget: false,
  pins: 'override',
};
const BY_LOAD: PolicyFacts = { ...PLAIN, needsLoads: true };

/** Policies 1, sticky-sessions 2.5 and 3.1. */
export const POLICY_FACTS: Readonly<Record<PolicyName, PolicyFacts>> = {
  random: PLAIN,
  round_robin: PLAIN,
  passthrough: PLAIN,
  power_of_two: BY_LOAD,
  least_load: BY_LOAD,
  cache_aware: { ...BY_LOAD, needsPrompt: true },
  prefix_hash: { ...PLAIN, needsPrompt: true, readsKey: true },
  consistent_hashing: { ...PLAIN, readsKey: true, takesTarget: true, pins: 'none' },
  bucket: { ...PLAIN, needsPrompt: true },
  manual: { ...PLAIN, pins: 'own' },
};
