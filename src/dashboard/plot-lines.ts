import { BRANCH_WORDS } from './words.ts';

/** What a plot shows of the series. Colours are properties of the style sheet, which has them for light and dark. */
export interface Line {
  readonly name: string;
  readonly words: string;
  readonly colour: string;
  /** Tells lines apart where colours do not. */
  readonly dash: readonly number[];
}

export const DECISIONS: readonly Line[] = [{ name: 'decisions', words: 'decisions', colour: '--line-1', dash: [] }];

/** Branches of every day, which have most of the traffic. */
export const USUAL: readonly Line[] = [
  branch('occupied_hit', '--line-2', []),
  branch('vacant', '--line-1', [8, 4]),
  branch('policy', '--line-5', [2, 4]),
  branch('no_routing_id', '--line-5', [6, 2]),
  branch('routing_key_hit', '--line-2', [12, 4]),
  branch('random_fallback', '--line-5', [4, 4]),
  branch('target_worker_hit', '--line-3', []),
];

/** Those that tell of something; beside the others they would not be seen. */
export const NOTABLE: readonly Line[] = [
  branch('occupied_miss', '--line-4', []),
  branch('cap_respill', '--line-3', [10, 3, 3, 3]),
  branch('target_worker_miss', '--line-4', [8, 3]),
  branch('no_healthy_workers', '--line-6', [2, 2]),
  branch('refused', '--line-6', []),
  branch('passed', '--line-6', [6, 3]),
];

function branch(name: string, colour: string, dash: readonly number[]): Line {
  return { name, words: BRANCH_WORDS[name] ?? name, colour, dash };
}

/** Those that were above 0 at some time. */
export function moving(lines: readonly Line[], rates: Readonly<Record<string, readonly number[]>>): readonly Line[] {
  return lines.filter(({ name }) => rates[name]?.some((value) => value > 0) === true);
}
