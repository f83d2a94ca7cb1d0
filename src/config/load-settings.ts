import { AppError, messageOf } from '../util/app-error.ts';
import { refuseUnavailable } from './availability.ts';
import { compatDefaults } from './compat-defaults.ts';
import { readConfigText } from './config-text.ts';
import { type Checks, crossCheck } from './cross-checks.ts';
import { type DerivedSettings, derive } from './derived-settings.ts';
import { type Env, fromEnv } from './from-env.ts';
import { type FileValues, fromFile } from './from-file.ts';
import { type FlagUse, fromFlags } from './from-flags.ts';
import { type Given, type Source, textOf } from './given.ts';
import { type AnyKey, type SettingKey, type SettingValues, settingOf, TABLE } from './settings-table.ts';

/** The settings in force: frozen, every key present. `routingKeyOrder` is folded into `routingKeySources`. */
export type Settings = Omit<SettingValues, 'routingKeyOrder'> & DerivedSettings;

export interface LoadInput {
  /** Flags of the command line, in order. */
  readonly flags: readonly FlagUse[];
  readonly env: Env;
  /** Defaults of a command that differ from those of the table. */
  readonly defaults?: Partial<SettingValues>;
  readonly checks?: Checks;
  /** Text of a file; throws when it cannot be read. */
  readonly readFile?: (path: string) => string;
}

/** A worker of the config file, not yet read. */
export interface FileWorker {
  readonly value: unknown;
  /** `file:line:column` of a part of it. */
  where(path?: readonly (string | number)[]): string;
}

export interface Loaded {
  readonly settings: Settings;
  /** Workers of the config file, those of `prefill_workers` and `decode_workers` with their type, in its order. */
  readonly workers: readonly FileWorker[];
  /** Where the value of a setting came from. */
  source(key: SettingKey): Source;
  /** What the operator should know though nothing is wrong. */
  readonly warnings: readonly string[];
}

export type { Checks } from './cross-checks.ts';

export type LoadResult =
  | { readonly ok: true; readonly loaded: Loaded }
  | { readonly ok: false; readonly problems: readonly string[] };

const NO_FILE: FileValues = { values: new Map(), ofPolicy: new Map(), workers: [], legs: new Map() };

/**
 * The settings of flags, environment and config file, in this order of precedence (interface 3).
 *
 * @throws AppError `invalid_configuration`, one line for each thing that is wrong
 */
export function loadSettings(input: LoadInput): Loaded {
  const result = tryLoadSettings(input);
  if (result.ok) return result.loaded;
  throw new AppError('invalid_configuration', result.problems.join('\n'));
}

/** The same with what is wrong as a value. Never throws. */
export function tryLoadSettings(input: LoadInput): LoadResult {
  const problems: string[] = [];
  const warnings: string[] = [];
  const flags = fromFlags(input.flags, problems);
  const env = fromEnv(input.env, problems, warnings);
  const path = (flags.get('config') ?? env.get('config'))?.value;
  const file = typeof path === 'string' ? readConfig(path, input.readFile ?? readConfigText, problems) : NO_FILE;

  const given = new Map<AnyKey, Given>([...file.values, ...env, ...flags]);
  refuseUnavailable(given, problems);
  const values = valuesOf(given, { ...compatDefaults(given), ...input.defaults });
  const derived = derive(values, given, file.ofPolicy);
  crossCheck({
    values,
    derived,
    given,
    ofPolicy: file.ofPolicy,
    checks: input.checks ?? {},
    workers: file.workers,
    problems,
  });
  if (!values.pdDisaggregation) {
    for (const [list, at] of file.legs) problems.push(`${at}: ${list} needs pd_disaggregation: true`);
  }
  if (problems.length > 0) return { ok: false, problems };

  const { routingKeyOrder: _, ...rest } = values;
  const settings: Settings = Object.freeze({ ...rest, ...derived });
  const workers = file.workers.map((worker) => ({ value: worker.data, where: worker.at }));
  const source = (key: SettingKey): Source => given.get(key)?.source ?? 'default';
  return { ok: true, loaded: { settings, workers, source, warnings } };
}

function readConfig(path: string, readFile: (path: string) => string, problems: string[]): FileValues {
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    problems.push(`--config ${textOf(path)}: cannot be read: ${messageOf(error)}`);
    return NO_FILE;
  }
  return fromFile(text, path, problems);
}

function valuesOf(given: ReadonlyMap<AnyKey, Given>, defaults: Partial<SettingValues>): SettingValues {
  const own = defaults as Readonly<Record<string, unknown>>;
  const values: Record<string, unknown> = {};
  for (const [key, setting] of TABLE) {
    if (setting.later === true) continue;
    const value = given.get(key)?.value;
    values[key] = value !== undefined ? value : (own[key] ?? settingOf(key).default);
  }
  // Each key of the table that is not for later was given a value of its own schema, or its default.
  return values as SettingValues;
}
