/** The ten placement policies of SMG v1.11, by their flag value. */
export const POLICY_NAMES = [
  'random',
  'round_robin',
  'passthrough',
  'power_of_two',
  'least_load',
  'cache_aware',
  'prefix_hash',
  'consistent_hashing',
  'bucket',
  'manual',
] as const;

export type PolicyName = (typeof POLICY_NAMES)[number];
