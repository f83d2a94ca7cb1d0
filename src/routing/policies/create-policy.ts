import type { Policy } from '../policy.ts';
import type { PolicyName } from '../policy-name.ts';
import type { PolicyOptions } from '../policy-parameters.ts';
import { BucketPolicy } from './bucket.ts';
import { createCacheAwarePolicy } from './cache-aware.ts';
import { ConsistentHashingPolicy } from './consistent-hashing.ts';
import { LeastLoadPolicy } from './least-load.ts';
import { createManualPolicy } from './manual.ts';
import { passthroughPolicy } from './passthrough.ts';
import { PowerOfTwoPolicy } from './power-of-two.ts';
import { PrefixHashPolicy } from './prefix-hash.ts';
import { randomPolicy } from './random.ts';
import { RoundRobinPolicy } from './round-robin.ts';

/**
 * A policy with a state of its own.
 *
 * @param previous one of that name with other parameters: what it remembers is kept as far as it fits
 */
export function createPolicy(name: PolicyName, options: PolicyOptions, previous: Policy | null = null): Policy {
  switch (name) {
    case 'random':
      return randomPolicy;
    case 'round_robin':
      return new RoundRobinPolicy();
    case 'passthrough':
      return passthroughPolicy;
    case 'power_of_two':
      return new PowerOfTwoPolicy();
    case 'least_load':
      return new LeastLoadPolicy(options.leastLoad);
    case 'cache_aware':
      return createCacheAwarePolicy(options.cacheAware, previous);
    case 'prefix_hash':
      return new PrefixHashPolicy(options.prefixHash, options.keys);
    case 'consistent_hashing':
      return new ConsistentHashingPolicy(options.keys);
    case 'bucket':
      return new BucketPolicy(options.bucket);
    case 'manual':
      return createManualPolicy(options.manualMode);
  }
}
