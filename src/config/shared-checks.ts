import { flagName } from './setting.ts';
import type { AnyKey, SettingValues } from './settings-table.ts';

type SharedSettings = Pick<SettingValues, 'pinStore' | 'pinStoreCaPath'>;

/** What means nothing without a shared store, or says nothing to one without TLS. */
const OF_THE_STORE = [
  'pinStoreUsername',
  'pinStorePasswordFile',
  'pinStoreCaPath',
  'pinStorePrefix',
  'pinKeyHmacFile',
] as const;

/** What is wrong with the settings of the shared store. `asked` tells whether somebody gave a setting a value of his own. */
export function sharedProblems(
  { pinStore, pinStoreCaPath }: SharedSettings,
  asked: (key: AnyKey) => boolean,
  name: (key: AnyKey) => string,
): readonly string[] {
  if (pinStore === 'memory') {
    return OF_THE_STORE.filter(asked).map((key) => `${name(key)} needs ${flagName('pinStore')} redis://…`);
  }
  if (pinStoreCaPath === null || /^rediss[+:]/.test(pinStore)) return [];
  return [`${name('pinStoreCaPath')}: needs a ${flagName('pinStore')} with TLS, rediss://…`];
}
