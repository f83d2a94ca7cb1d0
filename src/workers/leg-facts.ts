/** What is known of a prefill or decode worker that its other leg has to match, or to be told (policies 4.2 to 4.4). */
import type { WorkerSpec } from './worker-spec.ts';

/** How an engine lays out its KV cache, in lower case; null where nobody said. Both legs must agree on each. */
export interface KvLayout {
  readonly dtype: string | null;
  /** Tokens in a page or block. */
  readonly page: string | null;
  readonly attention: string | null;
  readonly model: string | null;
}

export interface LegFacts {
  /** The engine by name, in lower case: declared, else recognised; null until it was asked. */
  readonly runtime: string | null;
  readonly version: string | null;
  /** Name of an agreed way to pair (label `pairing_protocol`), which stands for all of the below; null without one. */
  readonly protocol: string | null;
  /** How KV caches travel, in lower case: `nixl`, `mooncake` or another; null where nobody said. */
  readonly transport: string | null;
  readonly layout: KvLayout;
  /** Port at which decode workers meet a prefill worker; null without one. */
  readonly bootstrapPort: number | null;
  /** `kv_engine_id`: the engine's name in a KV transfer; null where it was not declared. */
  readonly engineId: string | null;
}

/** What an engine told of itself. */
export interface EngineKind {
  /** `vllm`, `sglang`, or `generic` for an engine that is neither. */
  readonly runtime: string;
  readonly version: string | null;
}

/** The facts of a worker, null for a regular one. Labels come before what its engine told. */
export function legFactsOf(spec: WorkerSpec, engine: EngineKind | null): LegFacts | null {
  if (spec.workerType === 'regular') return null;
  const { labels } = spec;
  const label = (name: string) => textOf(labels[name]);
  const runtime = textOf(spec.runtimeType ?? undefined) ?? engine?.runtime ?? null;
  return {
    runtime,
    version: labels['version'] ?? engine?.version ?? null,
    protocol: labels['pairing_protocol'] ?? null,
    transport: transportOf(runtime, connectorOf(spec), label('disaggregation_transfer_backend')),
    layout: {
      dtype: label('kv_cache_dtype'),
      page: label('page_size') ?? label('block_size'),
      attention: label('attention_backend'),
      model: label('model_dtype'),
    },
    bootstrapPort: spec.bootstrapPort,
    engineId: spec.kvEngineId ?? labels['kv_engine_id'] ?? null,
  };
}

/** Name of a worker's KV connector as it was declared; null without one. */
export function connectorOf({ kvConnector, labels }: WorkerSpec): string | null {
  return kvConnector ?? labels['kv_connector'] ?? null;
}

function textOf(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text.toLowerCase();
}

/** vLLM names a connector, SGLang and TokenSpeed a backend; what neither knows is not looked at. */
function transportOf(runtime: string | null, connector: string | null, backend: string | null): string | null {
  if (runtime === 'sglang') return backend;
  if (runtime === 'tokenspeed') return backend ?? 'mooncake';
  const name = textOf(connector ?? undefined);
  if (runtime !== 'vllm' || name === null) return null;
  return KNOWN_TRANSPORTS.find((known) => name.includes(known)) ?? name;
}

const KNOWN_TRANSPORTS = ['nixl', 'mooncake'] as const;

/** `runtime/transport/layout` or the protocol, as SMG shows it: `sglang/nixl/page=64`, with `?` for what is not known. */
export function pairingText({ runtime, protocol, transport, layout }: LegFacts): string {
  if (protocol !== null) return protocol;
  const parts = LAYOUT.flatMap(([key, name]) => (layout[key] === null ? [] : [`${name}=${layout[key]}`]));
  return [runtime ?? '?', transport ?? '?', parts.length === 0 ? '?' : parts.join(',')].join('/');
}

const LAYOUT = [
  ['dtype', 'dtype'],
  ['page', 'page'],
  ['attention', 'attn'],
  ['model', 'model'],
] as const satisfies readonly (readonly [keyof KvLayout, string])[];
