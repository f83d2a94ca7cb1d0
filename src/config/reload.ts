import { messageOf } from '../util/app-error.ts';
import { readConfigText } from './config-text.ts';
import { FileWatch } from './file-watch.ts';
import type { Loaded, LoadResult, Settings } from './load-settings.ts';
import type { ReloadEffect } from './setting.ts';
import { type AnyKey, SETTINGS, type SettingKey, settingOf } from './settings-table.ts';
import { isEmptyYaml } from './yaml-document.ts';

export type ChangedKey = keyof Settings | 'workers';

/** A config file that was read again and can be used. */
export interface ConfigChange {
  /** What holds now: new values where they apply at once, old ones where a restart is needed. */
  readonly loaded: Loaded;
  /** Keys whose value in the sources differs from what held before. */
  readonly changed: readonly ChangedKey[];
  /** Those of them that wait for a restart. */
  readonly restartNeeded: readonly ChangedKey[];
  /** Those of them that wait for an Envoy configuration generated again. */
  readonly envoyNeeded: readonly ChangedKey[];
  /** How many workers the file had when it names none any more, else 0. */
  readonly workersLost: number;
}

export interface ConfigListener {
  changed(change: ConfigChange): void;
  /** The file cannot be used; what held before still holds. */
  failed(problems: readonly string[]): void;
}

export interface ConfigWatchOptions {
  readonly path: string;
  /** The settings that hold now. */
  readonly loaded: Loaded;
  /** Makes settings of the text of the file. */
  readonly load: (text: string) => LoadResult;
  readonly listener: ConfigListener;
  /** How long a file must have been left alone before it is read, in milliseconds. */
  readonly settleMs?: number;
}

/** Reads the config file again when it changes. */
export class ConfigWatch {
  readonly #options: ConfigWatchOptions;
  #loaded: Loaded;
  #text: string | undefined;
  #failing = false;
  readonly #watch: FileWatch;
  #closed = false;

  constructor(options: ConfigWatchOptions) {
    this.#options = options;
    this.#loaded = options.loaded;
    this.#watch = new FileWatch({
      path: options.path,
      changed: () => this.#read(false),
      lost: (problem) => options.listener.failed([problem]),
      ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
    });
  }

  /** Reads the file at once and reports, changed or not (SIGHUP). */
  reload(): void {
    if (!this.#closed) this.#read(true);
  }

  close(): void {
    this.#closed = true;
    this.#watch.close();
  }

  #read(forced: boolean): void {
    const { path, load, listener } = this.#options;
    let text: string;
    try {
      text = readConfigText(path);
    } catch (error) {
      this.#text = undefined;
      if (forced || !this.#failing) this.#fail([`${path}: cannot be read: ${messageOf(error)}`]);
      return;
    }
    if (!forced && text === this.#text) return;
    this.#text = text;
    if (fileSaysSomething(this.#loaded) && isEmptyYaml(text)) {
      this.#fail([`${path}: ${EMPTY}`]);
      return;
    }
    const result = load(text);
    if (!result.ok) {
      this.#fail(result.problems);
      return;
    }
    const change = compare(this.#loaded, result.loaded);
    const recovered = this.#failing;
    this.#failing = false;
    this.#loaded = change.loaded;
    if (forced || recovered || change.changed.length > 0) listener.changed(change);
  }

  #fail(problems: readonly string[]): void {
    this.#failing = true;
    this.#options.listener.failed(problems);
  }
}

/** A file that was cut before it is written anew looks like this, and would remove every worker. */
const EMPTY = 'is empty; what holds stays (write {} for a file that sets nothing, workers: [] for no workers)';

function fileSaysSomething({ workers, settings, source }: Loaded): boolean {
  return workers.length > 0 || Object.keys(settings).some((key) => source(key as SettingKey) === 'file');
}

/** What a new reading of the sources changes. */
export function compare(old: Loaded, fresh: Loaded): ConfigChange {
  const changed: ChangedKey[] = [];
  const kept: Partial<Record<keyof Settings, unknown>> = { ...fresh.settings };
  for (const key of Object.keys(fresh.settings) as (keyof Settings)[]) {
    if (same(old.settings[key], fresh.settings[key])) continue;
    changed.push(key);
    if (effectOf(key) === 'restart') kept[key] = old.settings[key];
  }
  if (!same(old.workers.map(valueOnly), fresh.workers.map(valueOnly))) changed.push('workers');
  // The same keys as in `fresh`, each with a value of its own type.
  const settings: Settings = Object.freeze(kept as Settings);
  return {
    loaded: { ...fresh, settings },
    changed,
    restartNeeded: changed.filter((key) => effectOf(key) === 'restart'),
    envoyNeeded: changed.filter((key) => effectOf(key) === 'envoy'),
    workersLost: workersOfFile(fresh) === 0 ? workersOfFile(old) : 0,
  };
}

function workersOfFile({ workers, settings, source }: Loaded): number {
  const listed = (['workerUrls', 'prefill', 'decode'] as const).filter((key) => source(key) === 'file');
  return listed.reduce((sum, key) => sum + settings[key].length, workers.length);
}

function effectOf(key: ChangedKey): ReloadEffect {
  // Derived settings follow from live ones.
  return key in SETTINGS ? settingOf(key as AnyKey).reload : 'live';
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function valueOnly(worker: { readonly value: unknown }): unknown {
  return worker.value;
}
