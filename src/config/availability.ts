import type { Given } from './given.ts';
import { type AnyKey, settingOf } from './settings-table.ts';

const LATER = 'is not supported by this version yet';

/** Refuses by name what was asked for and does not exist yet. A value that asks for what already is passes. */
export function refuseUnavailable(given: ReadonlyMap<AnyKey, Given>, problems: string[]): void {
  for (const [key, { name, value }] of given) {
    const setting = settingOf(key);
    if (setting.later !== true) continue;
    const same = JSON.stringify(value) === JSON.stringify(setting.default);
    const moot = setting.mootWith !== undefined && given.get(setting.mootWith as AnyKey)?.value === true;
    if (!same && !moot && setting.inert?.(value) !== true) problems.push(`${name} ${LATER}`);
  }
}
