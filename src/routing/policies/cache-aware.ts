import type { Policy } from '../policy.ts';
import type { CacheAwareParameters } from '../policy-parameters.ts';
import { HashCacheAwarePolicy } from './cache-aware-hash.ts';
import { TreeCacheAwarePolicy } from './cache-aware-tree.ts';

/** Workers that likely hold the prompt's beginning in their cache, as long as their load allows (policies 1.6). */
export function createCacheAwarePolicy(parameters: CacheAwareParameters): Policy {
  return parameters.cacheIndex === 'hash' ? new HashCacheAwarePolicy(parameters) : new TreeCacheAwarePolicy(parameters);
}
