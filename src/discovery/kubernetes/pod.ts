/** What is read of a pod. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Its first address, IPv4 or IPv6; empty before it has one. */
  readonly ip: string;
  readonly phase: string;
  /** Its condition `Ready` is `True`. */
  readonly ready: boolean;
  /** It was deleted, and has its grace period to end. */
  readonly terminating: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Named ports of its containers. */
  readonly ports: Readonly<Record<string, number>>;
}

export type Json = Readonly<Record<string, unknown>>;

/** A pod as the API server writes it, or as its client reads it; null when it has no name or no uid. */
export function readPod(raw: unknown): Pod | null {
  const { metadata, spec, status } = jsonObject(raw);
  const { name, uid, namespace, labels, annotations, deletionTimestamp } = jsonObject(metadata);
  const { podIP, phase, conditions } = jsonObject(status);
  if (typeof name !== 'string' || typeof uid !== 'string' || uid === '') return null;
  return {
    namespace: textOf(namespace),
    name,
    uid,
    ip: textOf(podIP),
    phase: textOf(phase),
    ready: listOf(conditions).some(({ type, status: value }) => type === 'Ready' && value === 'True'),
    terminating: deletionTimestamp !== undefined && deletionTimestamp !== null,
    labels: textsOf(labels),
    annotations: textsOf(annotations),
    ports: namedPorts(spec),
  };
}

/** The members of a JSON object; none of anything else. */
export function jsonObject(raw: unknown): Json {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? (raw as Json) : {};
}

/** The objects in a JSON array. */
export function listOf(raw: unknown): readonly Json[] {
  return Array.isArray(raw) ? raw.map(jsonObject) : [];
}

export function textOf(raw: unknown): string {
  return typeof raw === 'string' ? raw : '';
}

function textsOf(raw: unknown): Record<string, string> {
  const texts: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(jsonObject(raw))) if (typeof value === 'string') texts[key] = value;
  return texts;
}

/** Sidecars that run beside the containers stand among the init containers. */
function namedPorts(spec: unknown): Record<string, number> {
  const { containers, initContainers } = jsonObject(spec);
  const ports: Record<string, number> = Object.create(null);
  for (const container of [...listOf(containers), ...listOf(initContainers)]) {
    for (const { name, containerPort } of listOf(container['ports'])) {
      if (typeof name === 'string' && typeof containerPort === 'number') ports[name] ??= containerPort;
    }
  }
  return ports;
}
