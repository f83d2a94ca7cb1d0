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

/** Those that this version can run. */
export const BUILT_POLICY_NAMES = [
  'random',
  'round_robin',
  'passthrough',
  'power_of_two',
  'least_load',
  'prefix_hash',
  'consistent_hashing',
  'bucket',
  'manual',
] as const satisfies readonly PolicyName[];
export type BuiltPolicyName = (typeof BUILT_POLICY_NAMES)[number];

export function isBuiltPolicy(name: PolicyName): name is BuiltPolicyName {
  return (BUILT_POLICY_NAMES as readonly PolicyName[]).includes(name);
}
