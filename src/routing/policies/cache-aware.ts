import type { Policy } from '../policy.ts';
import type { CacheAwareParameters } from '../policy-parameters.ts';
import { HashCacheAwarePolicy } from './cache-aware-hash.ts';
import { TreeCacheAwarePolicy } from './cache-aware-tree.ts';

/**
 * Workers that likely hold the prompt's beginning in their cache, as long as their load allows (policies 1.6).
 *
 * @param previous one whose memory is kept if it is of the same kind, size and division
 */
export function createCacheAwarePolicy(parameters: CacheAwareParameters, previous: Policy | null = null): Policy {
  if (parameters.cacheIndex === 'hash') {
    return new HashCacheAwarePolicy(parameters, previous instanceof HashCacheAwarePolicy ? previous.memory : null);
  }
  return new TreeCacheAwarePolicy(parameters, previous instanceof TreeCacheAwarePolicy ? previous.memory : null);
}
