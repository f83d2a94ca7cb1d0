import type { AssignmentMode } from '../routing/assignment.ts';
import { SOURCES_OF_ORDER } from '../routing/key-sources.ts';
import type { Given } from './given.ts';
import type { AnyKey, SettingValues } from './settings-table.ts';

/** Settings that follow from others. */
export interface DerivedSettings {
  /** Where the routing key is looked for, from either of the two order flags (decisions 39). */
  readonly routingKeySources: readonly string[];
  /** Assignment mode of the policy itself; `assignmentMode` is that of the override (decisions 16). Null: its default. */
  readonly policyAssignmentMode: AssignmentMode | null;
  /** Seconds between sweeps of the policy itself; `evictionInterval` is that of the override (decisions 16). */
  readonly policyEvictionInterval: number;
  /** Pods whose probes keep failing are forgotten, as SMG does under discovery, which finds them again. */
  readonly removeUnhealthyPods: boolean;
}

/** `ofPolicy` holds what the policy object of the config file says for the policy alone. */
export function derive(
  values: SettingValues,
  given: ReadonlyMap<AnyKey, Given>,
  ofPolicy: ReadonlyMap<AnyKey, Given>,
): DerivedSettings {
  const apart = (key: AnyKey): unknown => {
    const source = given.get(key)?.source;
    // A flag or variable beats the file, and means both (decisions 16).
    return source === 'flag' || source === 'env' ? undefined : ofPolicy.get(key)?.value;
  };
  const mode = apart('assignmentMode');
  const interval = apart('evictionInterval');
  return {
    routingKeySources: given.has('routingKeySources')
      ? values.routingKeySources
      : SOURCES_OF_ORDER[values.routingKeyOrder],
    policyAssignmentMode: mode === undefined ? values.assignmentMode : (mode as AssignmentMode | null),
    policyEvictionInterval: typeof interval === 'number' ? interval : values.evictionInterval,
    removeUnhealthyPods: values.serviceDiscovery && !given.has('removeUnhealthyWorkers'),
  };
}
