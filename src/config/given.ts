import { fileKey, type Setting } from './setting.ts';
import type { AnyKey } from './settings-table.ts';

/** Where a value came from; the later ones win over the earlier. */
export const SOURCES = ['default', 'file', 'env', 'flag'] as const;
export type Source = (typeof SOURCES)[number];

/** A value that somebody wrote, checked for type and range. */
export interface Given {
  readonly value: unknown;
  readonly source: Source;
  /** What to call it: `--policy`, `SMG_POLICY` or `file:line:column: policy`. */
  readonly name: string;
}

/** What stands between the name of a setting and its value, as its source writes them. */
const SEPARATORS: Readonly<Record<Source, string>> = { default: ' ', file: ': ', env: '=', flag: ' ' };

export type Checked = { readonly given: Given } | { readonly problem: string };

/** Checks a raw value of a setting. `shown` is its text for the message. */
export function check(setting: Setting, raw: unknown, source: Source, name: string, shown: string): Checked {
  const result = setting.type.schema.safeParse(raw);
  if (result.success) return { given: { value: result.data, source, name } };
  const issue = result.error.issues[0];
  const index = issue?.path[0];
  const bad = Array.isArray(raw) && typeof index === 'number' ? textOf(raw[index]) : shown;
  const { allowed, arity } = setting.type;
  const wanted = arity === 'many' && !Array.isArray(raw) ? `a list of items like [a, b], each ${allowed}` : allowed;
  // A message of our own is about the value as a whole; the others say less than `allowed` does.
  const cause = issue?.code === 'custom' && issue.message !== 'Invalid input' ? issue.message : `expected ${wanted}`;
  return { problem: `${name}${SEPARATORS[source]}${quote(setting.mask?.(bad) ?? bad)}: ${cause}` };
}

/** Text of a raw value, short enough for a message. */
export function textOf(raw: unknown): string {
  const text = typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? String(raw));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function quote(text: string): string {
  return text === '' || /[^!-~]|["\\]/.test(text) ? JSON.stringify(text) : text;
}

/** Name of a setting in the config file. */
export function inFile(position: string, key: AnyKey): string {
  return `${position}: ${fileKey(key)}`;
}
