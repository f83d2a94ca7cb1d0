import { ENGINE_NAMES } from './split-engine.ts';

/**
 * What a simulated worker can be told: one table gives the flags of `smg-envoy sim`, the members of `POST /_sim` and of
 * the request header `x-sim`, and the checks of both.
 */
export interface Knobs {
  /** Whose models `/v1/models` lists: `sim`, `vllm` or `sglang`, by which a gateway knows how the engine is split. */
  readonly engine: string;
  /** Model ids that `/v1/models` lists. */
  readonly models: readonly string[];
  /** Tokens of an answer; a smaller `max_tokens` of the request wins. */
  readonly tokens: number;
  /** Milliseconds until the first byte of the answer. */
  readonly firstTokenMs: number;
  /** Milliseconds between two tokens. */
  readonly tokenMs: number;
  /** Share of requests, 0 to 1, that are answered with `failStatus`. */
  readonly failRate: number;
  readonly failStatus: number;
  /** Share of requests that get no answer at all. */
  readonly hangRate: number;
  /** Share of requests whose connection is reset before any answer. */
  readonly resetRate: number;
  /** Share of answers whose connection is reset in the middle of the body. */
  readonly dropRate: number;
  /** Status of `/health` and its siblings. */
  readonly healthStatus: number;
  /** Status of `/v1/models`. */
  readonly modelsStatus: number;
  /** Data-parallel ranks that `/server_info` tells; 0: it has no such route. Answers then carry `x-sim-rank`. */
  readonly dpSize: number;
  /** Requests that `/metrics` reports as waiting. */
  readonly waiting: number;
  /** Cache usage that `/metrics` reports, 0 to 1. */
  readonly kvUsage: number;
  /** Answers carry `x-sim-body-bytes` and `x-sim-body-sha256` of the request body. */
  readonly digest: boolean;
  /** Further response headers as `name: value`, to play a worker that forges ours. */
  readonly headers: readonly string[];
}

export const DEFAULT_KNOBS: Knobs = {
  engine: 'sim',
  models: ['sim-model'],
  tokens: 16,
  firstTokenMs: 0,
  tokenMs: 0,
  failRate: 0,
  failStatus: 503,
  hangRate: 0,
  resetRate: 0,
  dropRate: 0,
  healthStatus: 200,
  modelsStatus: 200,
  dpSize: 0,
  waiting: 0,
  kvUsage: 0,
  digest: false,
  headers: [],
};

type Kind = 'engine' | 'count' | 'ms' | 'rate' | 'status' | 'switch' | 'list' | 'headers';

/** One knob: its name in JSON (the flag is the same with dashes), its kind, and what it does. */
export interface KnobSpec {
  readonly key: keyof Knobs;
  readonly name: string;
  readonly kind: Kind;
  readonly help: string;
}

export const KNOBS: readonly KnobSpec[] = [
  { key: 'engine', name: 'engine', kind: 'engine', help: 'engine that /v1/models names: sim, vllm or sglang' },
  { key: 'models', name: 'models', kind: 'list', help: 'model ids that /v1/models lists' },
  { key: 'tokens', name: 'tokens', kind: 'count', help: 'tokens of an answer' },
  { key: 'firstTokenMs', name: 'first_token_ms', kind: 'ms', help: 'milliseconds until the first byte of an answer' },
  { key: 'tokenMs', name: 'token_ms', kind: 'ms', help: 'milliseconds between two tokens' },
  { key: 'failRate', name: 'fail_rate', kind: 'rate', help: 'share of requests answered with --fail-status' },
  { key: 'failStatus', name: 'fail_status', kind: 'status', help: 'status of an injected failure' },
  { key: 'hangRate', name: 'hang_rate', kind: 'rate', help: 'share of requests that never get an answer' },
  { key: 'resetRate', name: 'reset_rate', kind: 'rate', help: 'share of requests reset before the answer' },
  { key: 'dropRate', name: 'drop_rate', kind: 'rate', help: 'share of answers cut in the middle' },
  { key: 'healthStatus', name: 'health_status', kind: 'status', help: 'status of /health' },
  { key: 'modelsStatus', name: 'models_status', kind: 'status', help: 'status of /v1/models' },
  {
    key: 'dpSize',
    name: 'dp_size',
    kind: 'count',
    help: 'data-parallel ranks that /server_info tells; 0: no such route',
  },
  { key: 'waiting', name: 'waiting', kind: 'count', help: 'requests that /metrics reports as waiting' },
  { key: 'kvUsage', name: 'kv_usage', kind: 'rate', help: 'cache usage that /metrics reports' },
  {
    key: 'digest',
    name: 'digest',
    kind: 'switch',
    help: 'answer with size and SHA-256 of the request body in headers',
  },
  { key: 'headers', name: 'headers', kind: 'headers', help: "further response headers, each 'name: value'" },
];

/** What each kind takes, as a message says it. */
const ALLOWED: Record<Kind, string> = {
  engine: 'sim, vllm or sglang',
  count: 'an integer from 0 to 1000000',
  ms: 'milliseconds from 0 to 3600000',
  rate: 'a number from 0 to 1',
  status: 'an HTTP status from 200 to 599',
  switch: 'true or false',
  list: 'a list of non-empty strings',
  headers: "a list of 'name: value' strings",
};

const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?[\t\x20-\x7e]*$/;

function fits(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case 'engine':
      return typeof value === 'string' && ENGINE_NAMES.includes(value);
    case 'count':
      return Number.isInteger(value) && within(value, 0, 1_000_000);
    case 'ms':
      return within(value, 0, 3_600_000);
    case 'rate':
      return within(value, 0, 1);
    case 'status':
      return Number.isInteger(value) && within(value, 200, 599);
    case 'switch':
      return typeof value === 'boolean';
    case 'list':
      return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '');
    case 'headers':
      return Array.isArray(value) && value.every((item) => typeof item === 'string' && HEADER.test(item));
  }
}

function within(value: unknown, low: number, high: number): boolean {
  return typeof value === 'number' && value >= low && value <= high;
}

/** The change that a JSON object asks for, or a message that names the member, its value and what is allowed. */
export function readKnobs(json: unknown): Partial<Knobs> | string {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return 'expected a JSON object';
  const change: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(json)) {
    const spec = KNOBS.find((knob) => knob.name === name);
    if (spec === undefined) return `${name}: unknown; known are ${KNOBS.map((knob) => knob.name).join(', ')}`;
    if (!fits(spec.kind, value)) return `${name}: ${JSON.stringify(value)} is not ${ALLOWED[spec.kind]}`;
    change[spec.key] = value;
  }
  return change;
}

/** The value of a flag in its JSON form, ready for {@link readKnobs}; text that is no number stays text and is refused. */
export function flagValue(spec: KnobSpec, text: string | boolean | readonly string[]): unknown {
  if (typeof text !== 'string') return text;
  if (spec.kind === 'engine') return text;
  if (spec.kind === 'list' || spec.kind === 'headers') return [text];
  if (spec.kind === 'switch') return text === 'true' ? true : text === 'false' ? false : text;
  const value = Number(text);
  return text.trim() === '' || Number.isNaN(value) ? text : value;
}
