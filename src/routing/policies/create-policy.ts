import type { Policy } from '../policy.ts';
import type { BuiltPolicyName } from '../policy-name.ts';
import type { PolicyOptions } from '../policy-parameters.ts';
import { ConsistentHashingPolicy } from './consistent-hashing.ts';
import { createManualPolicy } from './manual.ts';
import { passthroughPolicy } from './passthrough.ts';
import { randomPolicy } from './random.ts';
import { RoundRobinPolicy } from './round-robin.ts';

/** A policy with a state of its own. */
export function createPolicy(name: BuiltPolicyName, options: PolicyOptions): Policy {
  switch (name) {
    case 'random':
      return randomPolicy;
    case 'round_robin':
      return new RoundRobinPolicy();
    case 'passthrough':
      return passthroughPolicy;
    case 'consistent_hashing':
      return new ConsistentHashingPolicy(options.keys);
    case 'manual':
      return createManualPolicy(options.manualMode);
  }
}
