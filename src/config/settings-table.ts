import type { z } from 'zod';
import type { Setting } from './setting.ts';
import { DISAGGREGATION_SETTINGS } from './settings/disaggregation.ts';
import { DISCOVERY_SETTINGS } from './settings/discovery.ts';
import { OPERATION_SETTINGS } from './settings/operation.ts';
import { POLICY_SETTINGS } from './settings/policies.ts';
import { REQUEST_SETTINGS } from './settings/requests.ts';
import { ROUTING_SETTINGS } from './settings/routing.ts';
import { SHARED_SETTINGS } from './settings/shared.ts';
import { WORKER_SETTINGS } from './settings/workers.ts';

/**
 * Every setting of `serve`. Flag, environment variable and config-file key follow from its name here; help, schema and
 * reference are made from it (interface 3, policies 7).
 */
export const SETTINGS = {
  ...WORKER_SETTINGS,
  ...ROUTING_SETTINGS,
  ...SHARED_SETTINGS,
  ...POLICY_SETTINGS,
  ...DISAGGREGATION_SETTINGS,
  ...REQUEST_SETTINGS,
  ...DISCOVERY_SETTINGS,
  ...OPERATION_SETTINGS,
} as const;

type Table = typeof SETTINGS;
/** Name of a setting in the code: `workerUrls` for `--worker-urls`. */
export type AnyKey = keyof Table;
type Value<K extends AnyKey> = z.output<Table[K]['type']['schema']>;

/** Settings that this version acts on. */
export type SettingKey = { [K in AnyKey]: Table[K] extends { readonly later: true } ? never : K }[AnyKey];

/** Values of all settings that this version acts on. */
export type SettingValues = { readonly [K in SettingKey]: Value<K> };

/** The table without its precise types, for code that walks it. */
export const TABLE: readonly (readonly [AnyKey, Setting])[] = Object.entries(SETTINGS).map(
  // Each value is a Setting of its own type, and is only ever given values that its own schema made.
  ([key, setting]) => [key as AnyKey, setting as unknown as Setting],
);

export function settingOf(key: AnyKey): Setting {
  return SETTINGS[key] as unknown as Setting;
}
