import type { FlagUse } from '../../src/config/from-flags.ts';
import { type Checks, type Loaded, type LoadResult, tryLoadSettings } from '../../src/config/load-settings.ts';
import { FLAGS } from '../../src/config/names.ts';
import type { SettingValues } from '../../src/config/settings-table.ts';

export interface Sources {
  /** Words of the command line, separated by blanks. */
  readonly flags?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Text of the config file, which is called conf.yaml. */
  readonly file?: string;
  readonly defaults?: Partial<SettingValues>;
  readonly checks?: Checks;
}

/** Settings of the given sources, as a command would load them. */
export function tryLoad({ flags = '', env = {}, file, defaults, checks }: Sources): LoadResult {
  const uses = flagUses(flags.split(' ').filter((word) => word !== ''));
  if (file !== undefined) uses.push({ key: 'config', flag: '--config', negated: false, words: ['conf.yaml'] });
  return tryLoadSettings({
    flags: uses,
    env,
    readFile: () => file ?? '',
    ...(defaults === undefined ? {} : { defaults }),
    ...(checks === undefined ? {} : { checks }),
  });
}

export function load(sources: Sources): Loaded {
  const result = tryLoad(sources);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.loaded;
}

/** What is wrong with the given sources. */
export function problemsOf(sources: Sources): readonly string[] {
  const result = tryLoad(sources);
  return result.ok ? [] : result.problems;
}

export function flagUses(words: readonly string[]): FlagUse[] {
  const uses: (FlagUse & { readonly words: string[] })[] = [];
  for (const word of words) {
    const target = FLAGS.get(word);
    if (target !== undefined) uses.push({ ...target, flag: word, words: [] });
    else uses.at(-1)?.words.push(word);
  }
  return uses;
}
