import type { AnyKey, SettingValues } from './settings-table.ts';

type DiscoverySettings = Pick<
  SettingValues,
  | 'serviceDiscovery'
  | 'selector'
  | 'prefillSelector'
  | 'decodeSelector'
  | 'workersFile'
  | 'config'
  | 'workerUrls'
  | 'prefill'
  | 'decode'
>;

/** What is wrong with the selectors of Kubernetes discovery. Without one it would find nothing, for ever. */
export function discoveryProblems(
  values: DiscoverySettings,
  disaggregated: boolean,
  name: (key: AnyKey) => string,
): readonly string[] {
  if (!values.serviceDiscovery) return [];
  const roles = (['prefillSelector', 'decodeSelector'] as const).filter((key) => values[key].length > 0);
  if (disaggregated) {
    return roles.length > 0
      ? []
      : [`${name('serviceDiscovery')}: needs --prefill-selector or --decode-selector with --pd-disaggregation`];
  }
  if (roles.length > 0) return roles.map((key) => `${name(key)} needs --pd-disaggregation`);
  return values.selector.length > 0 ? [] : [`${name('serviceDiscovery')}: needs --selector`];
}

/** Workers may come from elsewhere than the flags (decisions 19). */
export function findsWorkers({ serviceDiscovery, workersFile, config, ...listed }: DiscoverySettings): boolean {
  if (serviceDiscovery || workersFile !== null || config !== null) return true;
  return [listed.workerUrls, listed.prefill, listed.decode].some((words) =>
    words.some((word) => word.startsWith('dns+')),
  );
}
