/** A pod as a test describes it. */
export interface PodShape {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ip?: string;
  readonly ready?: boolean;
  readonly phase?: string;
  /** Named container ports. */
  readonly ports?: Readonly<Record<string, number>>;
}

/** A pod as the API server keeps it. */
export interface StoredPod {
  readonly kind: 'Pod';
  readonly apiVersion: 'v1';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: unknown;
  readonly status: unknown;
}

export interface LogEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: unknown;
}

interface Entry {
  readonly version: number;
  readonly before: StoredPod | null;
  readonly after: StoredPod | null;
}

/** Which pods a question is about. */
export interface Selection {
  readonly namespace: string | null;
  /** `key=value,…`; empty for all. */
  readonly labels: string;
}

export const NAMESPACE = 'inference';

/** The pods of an API server and the history of their changes, which a watch is answered from. */
export class PodLog {
  readonly #pods = new Map<string, StoredPod>();
  readonly #shapes = new Map<string, PodShape>();
  #entries: Entry[] = [];
  #version = 100;
  #oldest = 0;
  #uids = 0;
  readonly #listeners = new Set<() => void>();

  get version(): number {
    return this.#version;
  }

  create(shape: PodShape): void {
    this.#uids += 1;
    this.#put(shape, `uid-${this.#uids}`, undefined);
  }

  update(name: string, change: Partial<PodShape>, namespace = NAMESPACE): void {
    const key = `${namespace}/${name}`;
    const { metadata } = this.#pods.get(key)!;
    this.#put({ ...this.#shapes.get(key)!, ...change }, metadata.uid, metadata.deletionTimestamp);
  }

  terminate(name: string, namespace = NAMESPACE): void {
    const key = `${namespace}/${name}`;
    this.#put(this.#shapes.get(key)!, this.#pods.get(key)!.metadata.uid, '2030-01-01T00:00:00Z');
  }

  remove(name: string, namespace = NAMESPACE): void {
    const key = `${namespace}/${name}`;
    const before = this.#pods.get(key)!;
    this.#pods.delete(key);
    this.#append(before, null);
  }

  /** Versions so far cannot be watched from any more. */
  expire(): void {
    this.#oldest = this.#version;
    this.#entries = [];
  }

  isGone(version: number): boolean {
    return version < this.#oldest;
  }

  list(selection: Selection): readonly StoredPod[] {
    const all = [...this.#pods.values()].filter((pod) => selects(selection, pod));
    return all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  /** What happened after `version`, as a watch of the selection tells it. */
  since(version: number, selection: Selection): readonly LogEvent[] {
    return this.#entries.flatMap((entry) => (entry.version > version ? (eventOf(entry, selection) ?? []) : []));
  }

  bookmark(): LogEvent {
    const metadata = { resourceVersion: String(this.#version), creationTimestamp: null };
    return {
      type: 'BOOKMARK',
      object: { kind: 'Pod', apiVersion: 'v1', metadata, spec: { containers: null }, status: {} },
    };
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #put(shape: PodShape, uid: string, deletionTimestamp: string | undefined): void {
    const { name, namespace = NAMESPACE, labels = {}, annotations = {}, ports = {} } = shape;
    const key = `${namespace}/${name}`;
    const before = this.#pods.get(key) ?? null;
    const containerPorts = Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort }));
    const after: StoredPod = {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        name,
        namespace,
        uid,
        resourceVersion: String(this.#version + 1),
        labels,
        annotations,
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      },
      spec: { containers: [{ name: 'engine', image: 'engine', ports: containerPorts }] },
      status: statusOf(shape),
    };
    this.#shapes.set(key, shape);
    this.#pods.set(key, after);
    this.#append(before, after);
  }

  #append(before: StoredPod | null, after: StoredPod | null): void {
    this.#version += 1;
    this.#entries.push({ version: this.#version, before, after });
    for (const listener of [...this.#listeners]) listener();
  }
}

export function statusOf({ ip, ready = false, phase }: PodShape): unknown {
  return {
    phase: phase ?? (ip === undefined ? 'Pending' : 'Running'),
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    ...(ip === undefined ? {} : { podIP: ip, podIPs: [{ ip }] }),
  };
}

/** A pod that begins or ceases to fit is told as added or deleted. */
function eventOf({ version, before, after }: Entry, selection: Selection): LogEvent | undefined {
  const was = before !== null && selects(selection, before);
  const is = after !== null && selects(selection, after);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: after };
  if (!was || before === null) return undefined;
  const last = after ?? before;
  return { type: 'DELETED', object: { ...last, metadata: { ...last.metadata, resourceVersion: String(version) } } };
}

function selects({ namespace, labels }: Selection, { metadata }: StoredPod): boolean {
  if (namespace !== null && metadata.namespace !== namespace) return false;
  return labels.split(',').every((pair) => pair === '' || metadata.labels[pair.split('=')[0]!] === pair.split('=')[1]);
}

function keyOf({ metadata }: StoredPod): string {
  return `${metadata.namespace}/${metadata.name}`;
}
