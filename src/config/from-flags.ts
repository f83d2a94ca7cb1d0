import { check, type Given, textOf } from './given.ts';
import { flagName } from './setting.ts';
import { type AnyKey, settingOf } from './settings-table.ts';

/** One use of a flag on the command line. */
export interface FlagUse {
  readonly key: AnyKey;
  /** As it was typed, with its dashes. */
  readonly flag: string;
  /** It is a negation. */
  readonly negated: boolean;
  /** Words that followed it. */
  readonly words: readonly string[];
}

/** Values of the command line. Uses of a list flag add up; any other flag used twice must say the same. */
export function fromFlags(uses: readonly FlagUse[], problems: string[]): Map<AnyKey, Given> {
  const byKey = new Map<AnyKey, FlagUse[]>();
  for (const use of uses) {
    const known = byKey.get(use.key);
    if (known === undefined) byKey.set(use.key, [use]);
    else known.push(use);
  }
  const values = new Map<AnyKey, Given>();
  for (const [key, same] of byKey) {
    const given = settingOf(key).type.arity === 'many' ? listed(key, same, problems) : single(key, same, problems);
    if (given !== undefined) values.set(key, given);
  }
  return values;
}

function listed(key: AnyKey, uses: readonly FlagUse[], problems: string[]): Given | undefined {
  const words = uses.flatMap((use) => use.words);
  const { some = false, allowed } = settingOf(key).type;
  const empty = some ? uses.find((use) => use.words.length === 0) : undefined;
  if (empty !== undefined) {
    problems.push(`${empty.flag} needs a value: expected ${allowed}`);
    return undefined;
  }
  return judge(key, uses[0]?.flag ?? flagName(key), words, problems);
}

function single(key: AnyKey, uses: readonly FlagUse[], problems: string[]): Given | undefined {
  const first = uses[0];
  if (first === undefined) return undefined;
  for (const use of uses) {
    if (use.words.join(' ') !== first.words.join(' ') || use.negated !== first.negated) {
      problems.push(`${spell(key, first)} and ${spell(key, use)} contradict each other: give one of them`);
      return undefined;
    }
  }
  if (first.negated) {
    if (first.words.length === 0) return { value: false, source: 'flag', name: first.flag };
    problems.push(`${first.flag} takes no value`);
    return undefined;
  }
  if (first.words.length === 0 && settingOf(key).type.arity === 'one') {
    problems.push(`${first.flag} needs a value: expected ${settingOf(key).type.allowed}`);
    return undefined;
  }
  return judge(key, first.flag, first.words, problems);
}

function judge(key: AnyKey, flag: string, words: readonly string[], problems: string[]): Given | undefined {
  const setting = settingOf(key);
  const result = check(setting, setting.type.fromWords(words), 'flag', flag, textOf(words.join(' ')));
  if ('given' in result) return result.given;
  problems.push(result.problem);
  return undefined;
}

function spell(key: AnyKey, use: FlagUse): string {
  const text = use.words.join(' ');
  return text === '' ? use.flag : `${use.flag} ${settingOf(key).mask?.(text) ?? text}`;
}
