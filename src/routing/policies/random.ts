import { assign } from '../assignment.ts';
import type { Policy } from '../policy.ts';

/** Any worker, all alike (policies 1.1). */
export const randomPolicy: Policy = {
  name: 'random',
  needsPrompt: false,
  pick: ({ candidates, random }) => assign('random', candidates, random),
  next: ({ candidates, random }, taken) => assign('random', candidates, random, taken),
};
