import { readYaml, type YamlValue } from '../../config/yaml-document.ts';
import type { SpecIssue, WorkerSpec } from '../../workers/worker-spec.ts';
import { type NamePool, readDeclaration } from '../dns/name-pool.ts';

/** What a workers file declares. */
export interface DeclaredWorkers {
  readonly specs: readonly WorkerSpec[];
  readonly pools: readonly NamePool[];
}

/** The workers, or each thing that is wrong, with `file:line:column`. */
export type WorkersFileResult =
  | { readonly ok: true; readonly declared: DeclaredWorkers }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Reads the text of a workers file (`--workers-file`): YAML or JSON, a list of workers (interface 6) or an object with
 * such a list under `workers`, as in the config file.
 *
 * @param refuse what is wrong with a worker that is well declared, null when nothing is
 */
export function readWorkersFile(
  text: string,
  file: string,
  refuse: (spec: WorkerSpec) => string | null,
): WorkersFileResult {
  const problems: string[] = [];
  const root = readYaml(text, file, problems);
  const items = root === null ? undefined : listIn(root, file, problems);
  const specs: WorkerSpec[] = [];
  const pools: NamePool[] = [];
  for (const item of items ?? []) {
    const read = readDeclaration(item.data);
    const issues: SpecIssue[] = read.kind === 'wrong' ? [...read.issues] : [];
    if (read.kind === 'pool') pools.push(read.pool);
    if (read.kind === 'worker') {
      const message = refuse(read.spec);
      if (message === null) specs.push(read.spec);
      else issues.push({ path: ['url'], message });
    }
    for (const { path, message } of issues) problems.push(`${item.at(path)}: ${message}`);
  }
  return problems.length === 0 ? { ok: true, declared: { specs, pools } } : { ok: false, problems };
}

function listIn(root: YamlValue, file: string, problems: string[]): readonly YamlValue[] | undefined {
  // A file that was cut before it is written anew looks like this, and would remove every worker.
  if (root.data === null) {
    problems.push(`${file}: is empty; write [] for no workers`);
    return undefined;
  }
  const entries = root.entries();
  if (entries === undefined) {
    const items = root.items();
    if (items === undefined) problems.push(`${root.at()}: expected a list of workers`);
    return items;
  }
  for (const { key, keyAt } of entries) {
    if (key !== 'workers') problems.push(`${keyAt}: unknown key ${key}; a workers file holds workers alone`);
  }
  const list = entries.find(({ key }) => key === 'workers');
  const items = list?.value.items();
  if (items === undefined) problems.push(`${list?.value.at() ?? root.at()}: expected workers: and a list of workers`);
  return items;
}
