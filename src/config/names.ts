import { envName, fileKey, flagName } from './setting.ts';
import { type AnyKey, TABLE } from './settings-table.ts';

interface FlagTarget {
  readonly key: AnyKey;
  /** The flag stands for `false`. */
  readonly negated: boolean;
}

/** Every flag of the table with its dashes, aliases and negations included. */
export const FLAGS: ReadonlyMap<string, FlagTarget> = new Map(
  TABLE.flatMap(([key, setting]): [string, FlagTarget][] => [
    [flagName(key), { key, negated: false }],
    ...(setting.aliases ?? []).map((alias): [string, FlagTarget] => [`--${alias}`, { key, negated: false }]),
    ...(setting.negations ?? []).map((negation): [string, FlagTarget] => [`--${negation}`, { key, negated: true }]),
  ]),
);

/** Every key of the config file that is a setting, aliases included. */
export const FILE_KEYS: ReadonlyMap<string, AnyKey> = new Map(
  TABLE.flatMap(([key, setting]): [string, AnyKey][] => [
    [fileKey(key), key],
    ...(setting.aliases ?? []).map((alias): [string, AnyKey] => [fileKey(alias), key]),
  ]),
);

/** Every environment variable that is read. */
export const ENV_NAMES: ReadonlyMap<string, AnyKey> = new Map(
  TABLE.flatMap(([key, setting]): [string, AnyKey][] => [
    [envName(key), key],
    ...(setting.aliases ?? []).map((alias): [string, AnyKey] => [envName(alias), key]),
  ]),
);
