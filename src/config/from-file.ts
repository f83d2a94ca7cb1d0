import { didYouMean } from '../util/suggest.ts';
import { check, type Given, inFile, textOf } from './given.ts';
import { KNOWN_FLAGS } from './known-flags.ts';
import { FILE_KEYS } from './names.ts';
import { type AnyKey, settingOf, TABLE } from './settings-table.ts';
import { readYaml, type YamlEntry, type YamlValue } from './yaml-document.ts';

/** What a config file says. */
export interface FileValues {
  readonly values: ReadonlyMap<AnyKey, Given>;
  /** Settings of the policy alone, where its object sets them apart from those of the override (decisions 16). */
  readonly ofPolicy: ReadonlyMap<AnyKey, Given>;
  /** Of all three lists, in the order of the file. */
  readonly workers: readonly DeclaredWorker[];
  /** Where prefill or decode workers are listed, with the name of their list. */
  readonly legs: ReadonlyMap<string, string>;
}

/** A worker of the file: what is declared of it, its type included, and where a part of it stands. */
export interface DeclaredWorker {
  readonly data: unknown;
  at(path?: readonly (string | number)[]): string;
}

/** The lists of workers, with the type of those in them; null: they say it themselves. */
const WORKER_LISTS = { workers: null, prefill_workers: 'prefill', decode_workers: 'decode' } as const;
type WorkerList = keyof typeof WORKER_LISTS;
const ALL_KEYS: readonly string[] = [...FILE_KEYS.keys(), ...Object.keys(WORKER_LISTS)];
/** Keys of a policy object that mean the policy's own value, not the override's. */
const APART: ReadonlySet<AnyKey> = new Set<AnyKey>(['assignmentMode', 'evictionInterval']);

/** Reads the text of a config file (interface 4). Never throws; what is wrong goes to `problems` with its place. */
export function fromFile(text: string, file: string, problems: string[]): FileValues {
  const reader = new FileReader(problems);
  const root = readYaml(text, file, problems);
  if (root !== null && root.data !== null) {
    const entries = root.entries();
    if (entries === undefined) problems.push(`${root.at()}: expected keys and values, found ${textOf(root.data)}`);
    else for (const entry of entries) reader.take(entry);
  }
  return reader;
}

class FileReader implements FileValues {
  readonly values = new Map<AnyKey, Given>();
  readonly ofPolicy = new Map<AnyKey, Given>();
  workers: readonly DeclaredWorker[] = [];
  readonly legs = new Map<string, string>();
  readonly #problems: string[];

  constructor(problems: string[]) {
    this.#problems = problems;
  }

  take(entry: YamlEntry): void {
    const key = FILE_KEYS.get(entry.key);
    if (entry.key === 'policy' && entry.value.entries() !== undefined) this.#policyObject(entry);
    else if (key === 'config') this.#problems.push(`${entry.keyAt}: config cannot be set in the config file itself`);
    else if (key !== undefined) this.#store(this.values, key, entry);
    else if (Object.hasOwn(WORKER_LISTS, entry.key)) this.#workerList(entry, entry.key as WorkerList);
    else this.#unknown(entry);
  }

  #workerList(entry: YamlEntry, list: WorkerList): void {
    const items = entry.value.items();
    if (items === undefined) {
      const { data } = entry.value;
      const found = data === null ? 'nothing ([] for none)' : textOf(data);
      this.#problems.push(`${entry.value.at()}: ${entry.key}: expected a list of workers, found ${found}`);
      return;
    }
    const type = WORKER_LISTS[list];
    if (type !== null && items.length > 0) this.legs.set(list, entry.keyAt);
    this.workers = [...this.workers, ...items.map((item) => (type === null ? item : this.#ofType(item, type, list)))];
  }

  #ofType(item: YamlValue, type: string, list: WorkerList): DeclaredWorker {
    const { data } = item;
    if (typeof data !== 'object' || data === null || Array.isArray(data)) return item;
    const own: unknown = 'worker_type' in data ? data.worker_type : null;
    if (own !== null && own !== type) {
      this.#problems.push(`${item.at(['worker_type'])}: worker_type ${textOf(own)}: expected ${type} in ${list}`);
    }
    return { data: { ...data, worker_type: type }, at: (path) => item.at(path) };
  }

  #policyObject(entry: YamlEntry): void {
    const entries = entry.value.entries() ?? [];
    const type = entries.find((item) => item.key === 'type');
    if (type === undefined) {
      this.#problems.push(
        `${entry.keyAt}: policy: the key type is missing, expected ${settingOf('policy').type.allowed}`,
      );
      return;
    }
    const policy = this.#store(this.values, 'policy', type);
    if (policy === undefined) return;
    const allowed = TABLE.filter(([, setting]) => setting.policies?.includes(String(policy.value)));
    for (const item of entries) {
      if (item === type) continue;
      const key = FILE_KEYS.get(item.key);
      if (key === undefined || !allowed.some(([name]) => name === key)) {
        const names = [...FILE_KEYS].filter(([, name]) => allowed.some(([own]) => own === name)).map(([name]) => name);
        const hint = didYouMean(item.key, names);
        this.#problems.push(`${item.keyAt}: policy ${String(policy.value)} has no key ${textOf(item.key)}${hint}`);
      } else {
        this.#store(APART.has(key) ? this.ofPolicy : this.values, key, item);
      }
    }
  }

  #store(values: Map<AnyKey, Given>, key: AnyKey, entry: YamlEntry): Given | undefined {
    const setting = settingOf(key);
    const { value } = entry;
    const raw = rawOf(value, setting.type.textual === true);
    const index = Array.isArray(raw) ? firstBad(setting.type.schema, raw) : undefined;
    const at = index === undefined ? value.at() : value.at([index]);
    const result = check(setting, raw, 'file', inFile(at, key), textOf(raw));
    if ('problem' in result) {
      this.#problems.push(result.problem);
      return undefined;
    }
    const other = values.get(key);
    if (other !== undefined) {
      this.#problems.push(`${result.given.name} was already given at ${other.name}`);
      return undefined;
    }
    values.set(key, result.given);
    return result.given;
  }

  #unknown(entry: YamlEntry): void {
    const flag = `--${entry.key.replaceAll('_', '-')}`;
    const reason = KNOWN_FLAGS.get(flag);
    if (reason === undefined) {
      this.#problems.push(`${entry.keyAt}: unknown key ${textOf(entry.key)}${didYouMean(entry.key, ALL_KEYS)}`);
    } else {
      this.#problems.push(`${entry.keyAt}: ${entry.key} of SMG is not taken over: ${reason}`);
    }
  }
}

/** Data for the schema: scalars of textual settings as they are written, since YAML reads `1.10` as a number. */
function rawOf(value: YamlValue, textual: boolean): unknown {
  if (!textual) return value.data;
  const items = value.items();
  if (items !== undefined) return items.map((item) => rawOf(item, true));
  const { data } = value;
  return typeof data === 'number' || typeof data === 'boolean' ? (value.source ?? data) : data;
}

function firstBad(
  schema: { safeParse(raw: unknown): { error?: { issues: readonly { path: readonly PropertyKey[] }[] } | undefined } },
  raw: unknown,
): number | undefined {
  const index = schema.safeParse(raw).error?.issues[0]?.path[0];
  return typeof index === 'number' ? index : undefined;
}
