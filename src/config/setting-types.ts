import { z } from 'zod';
import type { SettingType } from './setting.ts';

/** Largest `u32`, the upper bound of most counters that SMG takes. */
export const U32 = 4_294_967_295;
/** Longest delay of a Node timer in whole seconds; a longer one would fire at once. */
export const TIMER_SECS = 2_147_483;

interface Bounds {
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string;
}

/** A whole number. */
export function int(bounds: Bounds = {}): SettingType<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER, unit = 'n' } = bounds;
  return {
    schema: z.int().min(min).max(max),
    allowed: `a whole number ${range(min, max === Number.MAX_SAFE_INTEGER ? undefined : max)}`,
    placeholder: unit,
    arity: 'one',
    fromWords: (words) => (/^[+-]?\d+$/.test(last(words)) ? Number(last(words)) : last(words)),
    show: String,
  };
}

/** A port number; 0 means any free one. */
export function port(): SettingType<number> {
  return { ...int({ max: 65_535, unit: 'port' }), allowed: 'a port number from 0 to 65535', port: true };
}

interface RealBounds extends Bounds {
  /** The lower bound itself is not allowed. */
  readonly above?: boolean;
}

/** A finite number. */
export function real(bounds: RealBounds = {}): SettingType<number> {
  const { min, max, above = false, unit = 'x' } = bounds;
  let schema: z.ZodNumber = z.number();
  if (min !== undefined) schema = above ? schema.gt(min) : schema.min(min);
  if (max !== undefined) schema = schema.max(max);
  return {
    schema,
    allowed: `a number ${range(min, max, above)}`,
    placeholder: unit,
    arity: 'one',
    fromWords: (words) => (REAL.test(last(words)) ? Number(last(words)) : last(words)),
    show: String,
  };
}
const REAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** A switch: `--name`, or with a word for yes or no. */
export function bool(): SettingType<boolean> {
  const schema = z.preprocess((value) => (typeof value === 'string' ? fromBoolWord(value) : value), z.boolean());
  return {
    schema,
    allowed: 'true or false',
    placeholder: 'bool',
    arity: 'optional',
    fromWords: (words) => (words.length === 0 ? true : fromBoolWord(last(words))),
    show: String,
  };
}

function fromBoolWord(word: string): boolean | string {
  const known = BOOL_WORDS[word.toLowerCase()];
  return known === undefined ? word : known;
}
const BOOL_WORDS: Readonly<Record<string, boolean>> = Object.assign(Object.create(null), {
  true: true,
  on: true,
  yes: true,
  1: true,
  false: false,
  off: false,
  no: false,
  0: false,
});

/** One of a fixed set of words. `fold` maps other spellings to them. */
export function choice<const V extends string>(
  values: readonly V[],
  fold: (word: string) => string = (word) => word,
): SettingType<V> {
  const schema = z.preprocess((value) => (typeof value === 'string' ? fold(value) : value), z.enum(values));
  return {
    schema,
    allowed: values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`,
    placeholder: values.length > 4 ? 'name' : values.join('|'),
    arity: 'one',
    fromWords: last,
    show: String,
    textual: true,
  };
}

/** Text that `accepts` judges. */
export function text(allowed: string, accepts: (value: string) => boolean, placeholder = 'text'): SettingType<string> {
  return {
    schema: z.string().refine(accepts),
    allowed,
    placeholder,
    arity: 'one',
    fromWords: last,
    show: String,
    textual: true,
  };
}

/** The same, or unset (null). */
export function optional<T>(type: SettingType<T>): SettingType<T | null> {
  return {
    ...type,
    schema: type.schema.nullable(),
    show: (value) => (value === null ? '' : type.show(value)),
  };
}

interface ListOptions<T> {
  /** Commas separate items too. */
  readonly commas?: boolean;
  /** What is wrong with the items as a whole, null when nothing is. */
  readonly whole?: (items: readonly T[]) => string | null;
  /** The word that stands for an empty list. */
  readonly none?: string;
  /** A flag without any item is a mistake. */
  readonly some?: boolean;
}

/** Any number of items of one type. */
export function list<T>(item: SettingType<T>, options: ListOptions<T> = {}): SettingType<readonly T[]> {
  const { commas = false, whole, none, some = false } = options;
  const items = z.array(item.schema).superRefine((value, context) => {
    const problem = whole?.(value) ?? null;
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });
  return {
    schema: none === undefined ? items : z.preprocess((value) => (value === none ? [] : value), items),
    allowed: item.allowed,
    placeholder: item.placeholder,
    arity: 'many',
    some,
    fromWords: (words) => {
      const parts = commas ? words.flatMap((word) => word.split(',')) : words;
      if (none !== undefined && parts.length === 1 && parts[0] === none) return [];
      return parts.map((part) => item.fromWords([part]));
    },
    show: (value) => value.map(item.show).join(commas ? ',' : ' '),
    textual: item.textual === true,
  };
}

function last(words: readonly string[]): string {
  return words[words.length - 1] ?? '';
}

function range(min: number | undefined, max: number | undefined, above = false): string {
  const from =
    min === undefined ? '' : above ? `above ${min}` : max === undefined ? `of at least ${min}` : `from ${min}`;
  const to = max === undefined ? '' : above ? ` and at most ${max}` : ` to ${max}`;
  return `${from}${to}`.trim();
}
