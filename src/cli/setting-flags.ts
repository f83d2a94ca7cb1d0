import { type Command, Option } from 'commander';
import type { FlagUse } from '../config/from-flags.ts';
import { KNOWN_FLAGS } from '../config/known-flags.ts';
import { type Loaded, tryLoadSettings } from '../config/load-settings.ts';
import { FLAGS } from '../config/names.ts';
import { flagName, GROUPS, type Setting } from '../config/setting.ts';
import { type AnyKey, type SettingValues, settingOf, TABLE } from '../config/settings-table.ts';
import { AppError } from '../util/app-error.ts';
import { didYouMean } from '../util/suggest.ts';
import { WORKER_CHECKS } from './worker-checks.ts';

interface MutableUse extends FlagUse {
  readonly words: string[];
}

/** Uses of setting flags, by the command that read them. */
const usesOf = new WeakMap<Command, MutableUse[]>();

/** Lets a command take every flag of `serve`. Call `settingsOf` in its action. */
export function addSettingFlags(command: Command): Command {
  const uses: MutableUse[] = [];
  usesOf.set(command, uses);
  const byGroup = GROUPS.flatMap((group) => TABLE.filter(([, setting]) => setting.group === group));
  for (const [key, setting] of byGroup) {
    add(command, uses, key, setting, flagName(key), false);
    for (const alias of setting.aliases ?? []) add(command, uses, key, setting, `--${alias}`, false);
    for (const negation of setting.negations ?? []) add(command, uses, key, setting, `--${negation}`, true);
  }
  // Commander takes every value for optional, so that a missing one is told with all else that is wrong.
  command.configureHelp({
    optionTerm: ({ flags, variadic, long }) =>
      variadic || takesNone(long) ? flags : flags.replace(/\[(.*)\]$/, '<$1>'),
  });
  // The same holds for what is not known: settingsOf tells it.
  return command.allowUnknownOption().allowExcessArguments();
}

function add(
  command: Command,
  uses: MutableUse[],
  key: AnyKey,
  setting: Setting,
  flag: string,
  negated: boolean,
): void {
  const { arity, placeholder } = setting.type;
  const value = arity === 'many' ? `[${placeholder}...]` : `[${placeholder}]`;
  // Commander gives the options --no-x a meaning of their own, which a hidden option without a value does not disturb.
  const option = new Option(negated ? flag : `${flag} ${value}`, describe(setting)).helpGroup(`${setting.group}:`);
  if (negated || flag !== flagName(key) || setting.later === true) option.hideHelp();
  command.addOption(option);
  command.on(`option:${option.name()}`, (word: unknown) => {
    const words = typeof word === 'string' ? [word] : [];
    uses.push({ key, flag, negated, words });
  });
}

function takesNone(flag: string | undefined): boolean {
  const target = FLAGS.get(flag ?? '');
  return target !== undefined && settingOf(target.key).type.arity === 'optional';
}

function describe(setting: Setting): string {
  const shown = setting.type.show(setting.default);
  const aliases = (setting.aliases ?? []).map((alias) => `also --${alias}`);
  const extra = [...aliases, ...(shown === '' ? [] : [`default: ${shown}`])];
  return extra.length === 0 ? setting.help : `${setting.help} (${extra.join('; ')})`;
}

/**
 * The settings of a command made by `addSettingFlags`, from its flags, the environment and the config file.
 *
 * @throws AppError `invalid_configuration`, one line for each thing that is wrong
 */
export function settingsOf(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
  options: { readonly defaults?: Partial<SettingValues> } = {},
): Loaded {
  const problems = unknownArguments(command);
  const result = tryLoadSettings({ ...options, flags: flagUses(command), env, checks: WORKER_CHECKS });
  if (!result.ok) problems.push(...result.problems);
  if (result.ok && problems.length === 0) return result.loaded;
  throw new AppError('invalid_configuration', problems.join('\n'));
}

/** Uses of setting flags on the command line of a command made by `addSettingFlags`, for a later reload. */
export function flagUses(command: Command): readonly FlagUse[] {
  return usesOf.get(command) ?? [];
}

function unknownArguments(command: Command): string[] {
  const problems: string[] = [];
  const names = [...FLAGS.keys(), ...command.options.map((option) => option.long ?? '')];
  let afterUnknown = false;
  for (const word of command.args) {
    if (!word.startsWith('-') || word === '-') {
      // Words behind an unknown flag are most likely its values.
      if (!afterUnknown) problems.push(`unexpected argument ${JSON.stringify(word)}`);
      continue;
    }
    afterUnknown = true;
    const flag = word.split('=', 1)[0] ?? word;
    const reason = KNOWN_FLAGS.get(flag);
    if (reason === undefined) problems.push(`unknown flag ${flag}${didYouMean(flag, names)}`);
    else problems.push(`${flag} of SMG is not taken over: ${reason}`);
  }
  return problems;
}
