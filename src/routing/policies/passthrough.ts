import type { Policy } from '../policy.ts';

/** Always the first worker (policies 1.3). */
export const passthroughPolicy: Policy = {
  name: 'passthrough',
  needsPrompt: false,
  needsLoads: false,
  memory: null,
  pick: ({ candidates }) => candidates[0] ?? null,
  next: ({ candidates }, taken) => {
    for (const worker of candidates) if (!taken.includes(worker)) return worker;
    return null;
  },
};
