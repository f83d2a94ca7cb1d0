import { assign } from '../assignment.ts';
import { nextByKey } from '../next-by-key.ts';
import type { Policy } from '../policy.ts';

/** Any worker, all alike (policies 1.1). */
export const randomPolicy: Policy = {
  name: 'random',
  needsPrompt: false,
  needsLoads: false,
  memory: null,
  pick: ({ candidates, random }) => assign('random', candidates, random),
  next: ({ candidates, random, keyStart }, taken) =>
    keyStart < 0 ? assign('random', candidates, random, taken) : nextByKey(candidates, taken, keyStart),
};
