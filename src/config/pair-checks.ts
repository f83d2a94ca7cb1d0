import { flagWorkers } from './declared-workers.ts';
import { findsWorkers } from './discovery-checks.ts';
import type { AnyKey, SettingValues } from './settings-table.ts';

/** What is wrong with the settings of prefill and decode workers (policies 7). */
export function pairProblems(values: SettingValues, name: (key: AnyKey) => string): readonly string[] {
  if (!values.pdDisaggregation) {
    const lists = (['prefill', 'decode'] as const).filter((key) => values[key].length > 0);
    return lists.map((key) => `${name(key)} needs --pd-disaggregation`);
  }
  const problems: string[] = [];
  if (values.pdDispatch === 'mirror' && values.dpAware) {
    problems.push(
      `${name('pdDispatch')} mirror: both workers get the same body, which cannot name two ranks (${name('dpAware')})`,
    );
  }
  for (const leg of ['prefill', 'decode'] as const) {
    const key = leg === 'prefill' ? 'prefillPolicy' : 'decodePolicy';
    const workers = flagWorkers(values).filter((worker) => worker.worker_type === leg);
    // With no worker at all others are still to come (decisions 19).
    if (values[key] === 'power_of_two' && workers.length === 1 && !findsWorkers(values)) {
      problems.push(`${name(key)} power_of_two: needs at least two ${leg} workers, and there is one`);
    }
  }
  return problems;
}
