import type { Settings } from './load-settings.ts';
import { fileKey } from './setting.ts';
import type { AnyKey } from './settings-table.ts';
import { SETTINGS, settingOf } from './settings-table.ts';

/** The settings as the admin API shows them: config-file keys, secrets masked (interface 9). */
export function publicSettings(settings: Settings): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(settings))
    shown[fileKey(key)] = key in SETTINGS ? masked(key as AnyKey, value) : value;
  return shown;
}

function masked(key: AnyKey, value: unknown): unknown {
  const { mask, type } = settingOf(key);
  if (mask === undefined) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => type.show([item]));
  return mask(type.show(value));
}
