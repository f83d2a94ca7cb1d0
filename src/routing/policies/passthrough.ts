import type { Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';

/** Always the first worker (policies 1.3). */
export const passthroughPolicy: Policy = {
  name: 'passthrough',
  facts: POLICY_FACTS.passthrough,
  memory: null,
  pick: ({ candidates }) => candidates[0] ?? null,
  next: ({ candidates }, taken) => {
    for (const worker of candidates) if (!taken.includes(worker)) return worker;
    return null;
  },
};
