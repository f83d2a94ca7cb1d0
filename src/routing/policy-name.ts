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

const BY_SPELLING: ReadonlyMap<string, PolicyName> = new Map(POLICY_NAMES.map((name) => [folded(name), name]));

/** The policy of that name, in any case, with or without underscores (policies 0.4); undefined when there is none. */
export function policyNameOf(text: string): PolicyName | undefined {
  return BY_SPELLING.get(folded(text));
}

function folded(text: string): string {
  return text.toLowerCase().replaceAll('_', '');
}
