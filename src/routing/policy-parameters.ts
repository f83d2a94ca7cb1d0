/**
 * Parameters of the policies. The constants are the defaults of SMG's policy structs: what a policy named by a worker
 * label gets, unless the gateway runs the same policy with an operator's values (policies 1.6.1).
 */
import type { AssignmentMode } from './assignment.ts';
import type { PolicyName } from './policy-name.ts';
import type { KeyRules } from './routing-keys.ts';

/** Expected wait (policies 1.5.1). */
export interface ExpectedWaitParameters {
  /** Seconds that a full KV cache counts for (λ). */
  readonly kvPressureWeight: number;
  /** Tokens that a request of unknown length counts for (p̄). */
  readonly meanPrefillTokens: number;
  /** Tokens per second of a worker that reports none. */
  readonly defaultThroughput: number;
  /** Waiting requests at which a worker takes no more; 0: no limit. */
  readonly maxWaitingRequests: number;
}

export const EXPECTED_WAIT_DEFAULTS: ExpectedWaitParameters = {
  kvPressureWeight: 0.15,
  meanPrefillTokens: 1024,
  defaultThroughput: 2000,
  maxWaitingRequests: 0,
};

/** Policies 1.6.1. Values tagged f32 there are rounded to single precision where they are compared. */
export interface CacheAwareParameters {
  readonly cacheThreshold: number;
  readonly balanceAbsThreshold: number;
  readonly balanceRelThreshold: number;
  /** Most characters of the text tree, and most tokens of the token tree, of one model. */
  readonly maxTreeSize: number;
  readonly blockSize: number;
  readonly balanceTokenUsageThreshold: number;
  readonly overloadTokenUsageThreshold: number;
  readonly overlapDecay: number;
  readonly selectionTemperature: number;
  readonly cacheIndex: 'tree' | 'hash';
  /** Ascending, above 0; needed by the hash index. */
  readonly cacheBoundaries: readonly number[];
  readonly cacheTtlMs: number;
  /** How often housekeeping is due. */
  readonly evictionIntervalMs: number;
}

export const CACHE_AWARE_DEFAULTS: CacheAwareParameters = {
  cacheThreshold: 0.5,
  balanceAbsThreshold: 32,
  balanceRelThreshold: 1.1,
  maxTreeSize: 10_000,
  blockSize: 16,
  balanceTokenUsageThreshold: 1,
  overloadTokenUsageThreshold: 1,
  overlapDecay: 0,
  selectionTemperature: 0,
  cacheIndex: 'tree',
  cacheBoundaries: [],
  cacheTtlMs: 180_000,
  evictionIntervalMs: 30_000,
};

/** Policies 1.7. */
export interface PrefixHashParameters {
  readonly prefixTokenCount: number;
  readonly loadFactor: number;
  readonly balanceAbsThreshold: number;
  /** Ascending, above 0. */
  readonly cacheBoundaries: readonly number[];
}

export const PREFIX_HASH_DEFAULTS: PrefixHashParameters = {
  prefixTokenCount: 256,
  loadFactor: 1.25,
  balanceAbsThreshold: 10,
  cacheBoundaries: [],
};

/** Policies 1.9. */
export interface BucketParameters {
  readonly balanceAbsThreshold: number;
  readonly balanceRelThreshold: number;
  readonly adjustIntervalMs: number;
}

export const BUCKET_DEFAULTS: BucketParameters = {
  balanceAbsThreshold: 32,
  balanceRelThreshold: 1.0001,
  adjustIntervalMs: 5_000,
};

/** Everything that a policy can be made of. */
export interface PolicyOptions {
  readonly keys: KeyRules;
  /** Mode of `manual`. */
  readonly manualMode: AssignmentMode;
  /** Of `least_load`; `power_of_two` and `cache_aware` keep the defaults (policies 1.4, 1.6.2). */
  readonly leastLoad: ExpectedWaitParameters;
  readonly cacheAware: CacheAwareParameters;
  readonly prefixHash: PrefixHashParameters;
  readonly bucket: BucketParameters;
}

/** What a policy gets that the operator said nothing about, but for the key rules, which are the gateway's. */
export const STRUCT_DEFAULTS: Omit<PolicyOptions, 'keys'> = {
  manualMode: 'random',
  leastLoad: EXPECTED_WAIT_DEFAULTS,
  cacheAware: CACHE_AWARE_DEFAULTS,
  prefixHash: PREFIX_HASH_DEFAULTS,
  bucket: BUCKET_DEFAULTS,
};

/** The part of the options that a policy is made of: while it is the same, so is the policy. */
export function parametersOf(name: PolicyName, options: PolicyOptions): unknown {
  switch (name) {
    case 'random':
    case 'round_robin':
    case 'passthrough':
    case 'power_of_two':
      return null;
    case 'least_load':
      return options.leastLoad;
    case 'cache_aware':
      return options.cacheAware;
    case 'prefix_hash':
      return [options.prefixHash, options.keys];
    case 'consistent_hashing':
      return options.keys;
    case 'bucket':
      return options.bucket;
    case 'manual':
      return options.manualMode;
  }
}
