import type { z } from 'zod';

/** Sections of `--help` and of the reference, in this order. */
export const GROUPS = [
  'Workers',
  'Routing',
  'Sticky sessions',
  'Shared state',
  'Cache and load policies',
  'Protection',
  'Prefill and decode',
  'Health',
  'Retries and Envoy',
  'Requests',
  'Service discovery',
  'Ports and security',
  'Operation',
] as const;
export type Group = (typeof GROUPS)[number];

/**
 * What a change in the config file needs to take effect: nothing, a restart of the service, or an Envoy configuration
 * generated again (the service itself does not use the value, or only in part).
 */
export type ReloadEffect = 'live' | 'restart' | 'envoy';

/** How values of one kind are written, read and checked. */
export interface SettingType<T> {
  /** Checks a value of the config file, or one that `fromWords` made; also the source of the JSON Schema. */
  readonly schema: z.ZodType<T>;
  /** What is allowed, to complete "expected …". */
  readonly allowed: string;
  /** Name of the value in `--help`, without brackets. */
  readonly placeholder: string;
  /** Words a flag takes: exactly one, one or none (none: true), or any number. */
  readonly arity: 'one' | 'optional' | 'many';
  /** True when a flag with an arity of `many` takes no less than one word. */
  readonly some?: boolean;
  /** Words of the command line or of an environment variable as a value that `schema` can judge. */
  readonly fromWords: (words: readonly string[]) => unknown;
  /** Text of a value, as a flag would take it. */
  readonly show: (value: T) => string;
  /** True when a plain scalar of the config file is taken as it is written (`1.10` stays `1.10`). */
  readonly textual?: boolean;
  /** True for a port number: Kubernetes writes `tcp://…` into variables of such names (decisions 44). */
  readonly port?: boolean;
}

/** Declaration of one setting; its names follow from its key in the table. */
export interface Setting<T = unknown> {
  readonly type: SettingType<T>;
  readonly default: T;
  /** One line for `--help`, with the unit. */
  readonly help: string;
  readonly group: Group;
  readonly reload: ReloadEffect;
  /** Further flag names, without dashes. */
  readonly aliases?: readonly string[];
  /** Flags that stand for `false`, without dashes. */
  readonly negations?: readonly string[];
  /** Hides what must not be shown in the text of a value, right or wrong. */
  readonly mask?: (text: string) => string;
  /** Not available yet: any value is refused, but the default and those `inert` accepts. */
  readonly later?: boolean;
  /** Values that ask for what already is, of a setting that is not available yet. */
  readonly inert?: (value: T) => boolean;
  /** Key of a switch that makes this setting meaningless when it is on. */
  readonly mootWith?: string;
  /** Policies whose object in the config file may hold this key. */
  readonly policies?: readonly string[];
}

/** A setting that this version acts on. */
export function available<T>(
  setting: Setting<T> & { readonly later?: never },
): Setting<T> & { readonly later?: never } {
  return setting;
}

/** A setting of a later version: known, checked, and refused by name. */
export function later<T>(setting: Setting<T>): Setting<T> & { readonly later: true } {
  return { ...setting, later: true };
}

/** `workerUrls` → `--worker-urls`. */
export function flagName(key: string): string {
  return `--${words(key).join('-')}`;
}

/** `workerUrls` → `SMG_WORKER_URLS`. */
export function envName(key: string): string {
  return `SMG_${words(key).join('_').toUpperCase()}`;
}

/** `workerUrls` → `worker_urls`. */
export function fileKey(key: string): string {
  return words(key).join('_');
}

function words(key: string): string[] {
  return key
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/-/g, ' ')
    .split(' ');
}
