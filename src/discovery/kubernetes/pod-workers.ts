/** From pods to workers: pure, and the same for the same pods whatever happened before. */
import type { SourcedWorker, SourceState } from '../../workers/sourced-worker.ts';
import type { WorkerType } from '../../workers/worker-kinds.ts';
import { plainSpec } from '../../workers/worker-spec.ts';
import { parseWorkerUrl } from '../../workers/worker-url.ts';
import type { Pod } from './pod.ts';
import { matches, type Selector } from './selector.ts';

/** Names of SMG. */
const WORKER_PORTS = 'smg.ai/worker-ports';
const BOOTSTRAP_PORT = 'sglang.ai/bootstrap-port';
const KV_CONNECTOR = 'smg.ai/kv-connector';
const KV_ENGINE_ID = 'smg.ai/kv-engine-id';
const POD_NAME = 'smg.ai/pod-name';
const POD_UID = 'smg.ai/pod-uid';

/** `--model-id-from` */
export type ModelIdSource =
  | { readonly kind: 'namespace' }
  | { readonly kind: 'label' | 'annotation'; readonly key: string };

/** Pods of one kind. */
export interface PodRole {
  readonly workerType: WorkerType;
  readonly selector: Selector;
}

export interface PodRules {
  /** The first that fits a pod says what it is. */
  readonly roles: readonly PodRole[];
  /** `--service-discovery-port` */
  readonly port: number;
  readonly modelIdFrom: ModelIdSource | null;
  /** Pods of several namespaces may have one name. */
  readonly withNamespace: boolean;
}

export interface PodWorkers {
  readonly workers: readonly SourcedWorker[];
  /** What is wrong with pods, by `namespace/name`. */
  readonly notes: ReadonlyMap<string, string>;
}

/** `namespace`, `label:KEY` or `annotation:KEY`. */
export function readModelIdSource(text: string): ModelIdSource {
  const at = text.indexOf(':');
  if (at < 0) return { kind: 'namespace' };
  return { kind: text.startsWith('label:') ? 'label' : 'annotation', key: text.slice(at + 1) };
}

/** The workers of all pods. Where pods claim one address, the one that is most alive has it. */
export function workersOfPods(pods: Iterable<Pod>, rules: PodRules): PodWorkers {
  const found = new Map<string, SourcedWorker>();
  const notes = new Map<string, string>();
  for (const pod of pods) {
    const role = rules.roles.find(({ selector }) => matches(pod, selector));
    const state = stateOf(pod);
    if (role === undefined || state === null) continue;
    for (const worker of workersOf(pod, role, state, rules, notes)) {
      const { id } = worker.spec.url;
      const other = found.get(id);
      if (other === undefined || RANKS[state] < RANKS[other.state]) found.set(id, worker);
    }
  }
  return { workers: [...found.values()], notes };
}

const RANKS: Readonly<Record<SourceState, number>> = { up: 0, unready: 1, leaving: 2 };

/** Null for a pod that has no address yet, or that has ended: another one may have its address by now. */
function stateOf({ ip, phase, ready, terminating }: Pod): SourceState | null {
  if (ip === '' || phase === 'Succeeded' || phase === 'Failed') return null;
  if (terminating) return 'leaving';
  return ready && phase === 'Running' ? 'up' : 'unready';
}

function workersOf(
  pod: Pod,
  { workerType }: PodRole,
  state: SourceState,
  rules: PodRules,
  notes: Map<string, string>,
): SourcedWorker[] {
  const { ip, uid } = pod;
  const ports = workerPorts(pod, rules.port, notes);
  const bootstraps = workerType === 'prefill' ? bootstrapPorts(pod, ports.length, notes) : [];
  const paired = workerType !== 'regular';
  const engineIds = paired ? kvEngineIds(pod, ports.length, notes) : [];
  const kvConnector = (paired && pod.annotations[KV_CONNECTOR]?.trim()) || null;
  const model = modelOf(pod, rules.modelIdFrom);
  const podName = rules.withNamespace ? `${pod.namespace}/${pod.name}` : pod.name;
  return ports.flatMap((port, index) => {
    const parsed = parseWorkerUrl(`http://${ip.includes(':') ? `[${ip}]` : ip}:${port}`);
    if (!parsed.ok) return [];
    const spec = {
      ...plainSpec(parsed.url),
      name: ports.length > 1 ? `${podName}:${port}` : podName,
      workerType,
      bootstrapPort: bootstraps[index] ?? null,
      kvConnector,
      kvEngineId: engineIds[index] ?? null,
      labels: { [POD_NAME]: pod.name, [POD_UID]: uid, ...(model === null ? {} : { served_model_name: model }) },
      models: model === null ? [] : [model],
      modelsBeside: model !== null,
    };
    return [{ spec, state, incarnation: uid }];
  });
}

/** The ports of the annotation, as numbers or as names of container ports; without it the port of the flag. */
function workerPorts(pod: Pod, port: number, notes: Map<string, string>): readonly number[] {
  const written = pod.annotations[WORKER_PORTS];
  if (written === undefined) return [port];
  const ports = portList(pod, written);
  if (ports !== null) return [...new Set(ports)];
  note(notes, pod, `annotation ${WORKER_PORTS} is no list of ports or of names of container ports; ${port} is used`);
  return [port];
}

function bootstrapPorts(pod: Pod, count: number, notes: Map<string, string>): readonly number[] {
  const written = pod.annotations[BOOTSTRAP_PORT];
  if (written === undefined) return [];
  const ports = forEach(portList(pod, written) ?? [], count);
  if (ports === null)
    note(notes, pod, `annotation ${BOOTSTRAP_PORT} is neither one port nor one for each worker port; it is ignored`);
  return ports ?? [];
}

function kvEngineIds(pod: Pod, count: number, notes: Map<string, string>): readonly string[] {
  const written = pod.annotations[KV_ENGINE_ID];
  if (written === undefined) return [];
  const items = written.split(',').map((item) => item.trim());
  const ids = items.includes('') ? null : forEach(items, count);
  if (ids === null)
    note(notes, pod, `annotation ${KV_ENGINE_ID} is neither one id nor one for each worker port; it is ignored`);
  return ids ?? [];
}

/** One for all workers of the pod, or one for each; null for any other number. */
function forEach<T>(items: readonly T[], count: number): readonly T[] | null {
  const [only] = items;
  if (items.length === 1 && only !== undefined) return Array.from({ length: count }, () => only);
  return items.length === count ? items : null;
}

function portList(pod: Pod, text: string): readonly number[] | null {
  const ports: number[] = [];
  for (const item of text.split(',')) {
    const word = item.trim();
    const port = /^[0-9]{1,5}$/.test(word) ? Number(word) : pod.ports[word];
    if (port === undefined || port < 1 || port > 65_535) return null;
    ports.push(port);
  }
  return ports;
}

function modelOf({ namespace, labels, annotations }: Pod, from: ModelIdSource | null): string | null {
  if (from === null) return null;
  const found = from.kind === 'namespace' ? namespace : (from.kind === 'label' ? labels : annotations)[from.key];
  return found === undefined || found === '' ? null : found;
}

function note(notes: Map<string, string>, { namespace, name }: Pod, reason: string): void {
  const subject = `${namespace}/${name}`;
  const before = notes.get(subject);
  notes.set(subject, before === undefined ? reason : `${before}; ${reason}`);
}
