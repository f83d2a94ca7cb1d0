import { assign } from '../assignment.ts';
import { nextByKey } from '../next-by-key.ts';
import type { Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';

/** Any worker, all alike (policies 1.1). */
export const randomPolicy: Policy = {
  name: 'random',
  facts: POLICY_FACTS.random,
  memory: null,
  pick: ({ candidates, random }) => assign('random', candidates, random),
  next: ({ candidates, random, keyStart }, taken) =>
    keyStart < 0 ? assign('random', candidates, random, taken) : nextByKey(candidates, taken, keyStart),
};
