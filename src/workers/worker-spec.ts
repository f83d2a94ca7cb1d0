import { z } from 'zod';
import type { HealthOverrides } from './health-settings.ts';
import { NO_OVERLOAD_RULE, type OverloadRule } from './load/overload.ts';
import type { WorkerType } from './worker-kinds.ts';
import { parseWorkerUrl, type WorkerUrl } from './worker-url.ts';

/** A worker as it was declared (interface 6), whatever source declared it. */
export interface WorkerSpec {
  readonly url: WorkerUrl;
  /** Operator's name for it; null without one. */
  readonly name: string | null;
  /** Declared model ids, each once; empty: to be asked from the worker. */
  readonly models: readonly string[];
  /** The models that the worker lists are served beside the declared ones. */
  readonly modelsBeside: boolean;
  readonly workerType: WorkerType;
  readonly runtimeType: string | null;
  readonly bootstrapPort: number | null;
  /** Connector of a vLLM engine for KV transfers, and the engine's name in one (policies 4.4). */
  readonly kvConnector: string | null;
  readonly kvEngineId: string | null;
  /** Sent to the worker as a bearer token with probes; never shown. */
  readonly apiKey: string | null;
  readonly priority: number;
  readonly cost: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly health: HealthOverrides;
  /** Seconds between its load reports; null without a wish (policies 3.1). */
  readonly loadIntervalSecs: number | null;
  /** From which load on it takes no requests, over what holds for the fleet (policies 2.2). */
  readonly overload: OverloadRule;
}

/** One thing wrong with a declared worker. */
export interface SpecIssue {
  /** Where it stands in the input, for `file:line:column`. */
  readonly path: readonly (string | number)[];
  /** Names the field, the value and what is allowed. */
  readonly message: string;
}

export type SpecResult =
  | { readonly ok: true; readonly spec: WorkerSpec }
  | { readonly ok: false; readonly issues: readonly SpecIssue[] };

const NAME_RULE = 'must be a text that is not empty, without control characters';
const text = (rule: string) => z.string({ error: rule }).min(1, { error: rule });
const count = (rule: string, min: number, max: number) =>
  z.int({ error: rule }).min(min, { error: rule }).max(max, { error: rule });
const seconds = z
  .number({ error: 'must be a number of seconds above 0 and at most 86400' })
  .gt(0, { error: 'must be a number of seconds above 0 and at most 86400' })
  .max(86_400, { error: 'must be a number of seconds above 0 and at most 86400' });
const threshold = count('must be an integer from 1 to 1000000', 1, 1_000_000);

const healthSchema = z.strictObject(
  {
    disable_health_check: z.boolean({ error: 'must be true or false' }).nullish(),
    endpoint: z
      .string({ error: 'must be a path' })
      .regex(/^\/[!-~]*$/, { error: 'must be a path' })
      .nullish(),
    timeout_secs: seconds.nullish(),
    check_interval_secs: seconds.nullish(),
    success_threshold: threshold.nullish(),
    failure_threshold: threshold.nullish(),
  },
  { error: 'must be an object of health settings' },
);

const SHARE_RULE = 'must be a number above 0 and at most 1';
const overloadSchema = z.strictObject(
  {
    waiting_requests: count('must be an integer from 1 to 4294967295', 1, 4_294_967_295).nullish(),
    token_usage: z.number({ error: SHARE_RULE }).gt(0, { error: SHARE_RULE }).max(1, { error: SHARE_RULE }).nullish(),
  },
  { error: 'must be an object of overload bounds' },
);

/** Null stands for nothing, as in a partial change. */
const fields = {
  // It becomes the value of a response header with --routed-worker-id name.
  name: z
    .string({ error: NAME_RULE })
    .regex(/^\P{Cc}+$/u, { error: NAME_RULE })
    .nullish(),
  models: z
    .array(
      z.strictObject({ id: text('must be a model id that is not empty') }, { error: 'must be an object {id: MODEL}' }),
      { error: 'must be a list of {id: MODEL}' },
    )
    .nullish(),
  worker_type: z.enum(['regular', 'prefill', 'decode'], { error: 'must be regular, prefill or decode' }).nullish(),
  runtime_type: text('must be the name of an engine').nullish(),
  bootstrap_port: count('must be a port from 1 to 65535', 1, 65_535).nullish(),
  kv_connector: text('must be the name of a connector').nullish(),
  kv_engine_id: text('must be the id of an engine').nullish(),
  api_key: z
    .string({ error: 'must be a text of visible ASCII characters' })
    .regex(/^[!-~]+$/, { error: 'must be a text of visible ASCII characters' })
    .nullish(),
  priority: count('must be an integer from 0 to 4294967295', 0, 4_294_967_295).nullish(),
  cost: z.number({ error: 'must be a number from 0 up' }).min(0, { error: 'must be a number from 0 up' }).nullish(),
  labels: z
    .record(z.string(), z.string({ error: 'must be a text' }), { error: 'must be an object of texts' })
    .nullish(),
  health: healthSchema.nullish(),
  load_monitor_interval_secs: count('must be an integer of seconds from 1 to 86400', 1, 86_400).nullish(),
  overload: overloadSchema.nullish(),
};

const urlSchema = z.string({ error: 'must be the URL of the worker' }).superRefine((value, context) => {
  const result = parseWorkerUrl(value);
  if (!result.ok) context.addIssue({ code: 'custom', message: result.message });
});

/** Input shape of a worker in the configuration file and in the admin API. */
export const workerSchema = z
  .strictObject(
    { url: urlSchema, id: z.string({ error: 'must be the URL of the worker' }).optional(), ...fields },
    { error: 'must be an object with a url' },
  )
  .superRefine((value, context) => {
    const url = parseWorkerUrl(value.url);
    if (value.id === undefined || !url.ok || value.id === url.url.id) return;
    const message = `must be the URL of the worker, ${JSON.stringify(url.url.id)}, or be left out (use name)`;
    context.addIssue({ code: 'custom', path: ['id'], message });
  });

const patchSchema = z.strictObject(fields, { error: 'must be an object of worker fields' });
type Patch = z.infer<typeof patchSchema>;

/** Reads a declared worker. */
export function parseWorkerSpec(input: unknown): SpecResult {
  const parsed = workerSchema.safeParse(input, { reportInput: true });
  if (!parsed.success) return refuse(parsed.error, [...Object.keys(fields), 'url', 'id']);
  const url = parseWorkerUrl(parsed.data.url);
  if (!url.ok) return { ok: false, issues: [{ path: ['url'], message: `url: ${url.message}` }] };
  return { ok: true, spec: merge(plainSpec(url.url), parsed.data) };
}

/** The spec after a partial change: absent fields stay, null clears, lists and objects are replaced whole. */
export function patchWorkerSpec(current: WorkerSpec, input: unknown): SpecResult {
  const parsed = patchSchema.safeParse(input, { reportInput: true });
  if (!parsed.success) return refuse(parsed.error, Object.keys(fields));
  return { ok: true, spec: merge(current, parsed.data) };
}

/** A worker of which only the URL is declared (`--worker-urls`). */
export function plainSpec(url: WorkerUrl): WorkerSpec {
  return {
    url,
    name: null,
    models: [],
    modelsBeside: false,
    workerType: 'regular',
    runtimeType: null,
    bootstrapPort: null,
    kvConnector: null,
    kvEngineId: null,
    apiKey: null,
    priority: 50,
    cost: 1,
    labels: {},
    health: healthOverrides({}),
    loadIntervalSecs: null,
    overload: NO_OVERLOAD_RULE,
  };
}

function merge(current: WorkerSpec, patch: Patch): WorkerSpec {
  const cleared = plainSpec(current.url);
  return {
    url: current.url,
    name: choose(patch.name, current.name, cleared.name),
    models: choose(patch.models && [...new Set(patch.models.map(({ id }) => id))], current.models, cleared.models),
    // Who names models names all of them.
    modelsBeside: current.modelsBeside && patch.models === undefined,
    workerType: choose(patch.worker_type, current.workerType, cleared.workerType),
    runtimeType: choose(patch.runtime_type, current.runtimeType, cleared.runtimeType),
    bootstrapPort: choose(patch.bootstrap_port, current.bootstrapPort, cleared.bootstrapPort),
    kvConnector: choose(patch.kv_connector, current.kvConnector, cleared.kvConnector),
    kvEngineId: choose(patch.kv_engine_id, current.kvEngineId, cleared.kvEngineId),
    apiKey: choose(patch.api_key, current.apiKey, cleared.apiKey),
    priority: choose(patch.priority, current.priority, cleared.priority),
    cost: choose(patch.cost, current.cost, cleared.cost),
    labels: choose(patch.labels, current.labels, cleared.labels),
    health: choose(patch.health && healthOverrides(patch.health), current.health, cleared.health),
    loadIntervalSecs: choose(patch.load_monitor_interval_secs, current.loadIntervalSecs, cleared.loadIntervalSecs),
    overload: choose(patch.overload && overloadRule(patch.overload), current.overload, cleared.overload),
  };
}

function choose<T>(given: T | null | undefined, current: T, cleared: T): T {
  if (given === undefined) return current;
  return given === null ? cleared : given;
}

function healthOverrides(input: NonNullable<z.infer<typeof healthSchema>>): HealthOverrides {
  const disabled = input.disable_health_check ?? null;
  return {
    enabled: disabled === null ? null : !disabled,
    endpoint: input.endpoint ?? null,
    timeoutSecs: input.timeout_secs ?? null,
    intervalSecs: input.check_interval_secs ?? null,
    successThreshold: input.success_threshold ?? null,
    failureThreshold: input.failure_threshold ?? null,
  };
}

function overloadRule(input: NonNullable<z.infer<typeof overloadSchema>>): OverloadRule {
  return { waitingRequests: input.waiting_requests ?? null, tokenUsage: input.token_usage ?? null };
}

function refuse(error: z.ZodError, allowed: readonly string[]): SpecResult {
  const issues = error.issues.map((issue) => describe(issue, allowed));
  // A number may break two bounds that are one rule to the reader.
  const once = issues.filter(({ message }, index) => issues.findIndex((other) => other.message === message) === index);
  return { ok: false, issues: once };
}

function describe(issue: z.core.$ZodIssue, allowed: readonly string[]): SpecIssue {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  const field = fieldName(path);
  if (issue.code === 'unrecognized_keys') {
    const known = path.length === 0 ? allowed : nestedFields(path[0]);
    const message = `${field}: unknown field ${issue.keys.join(', ')}; allowed: ${[...known].sort().join(', ')}`;
    return { path: [...path, ...issue.keys.slice(0, 1)], message };
  }
  if (issue.code === 'custom') return { path, message: `${field}: ${issue.message}` };
  return { path, message: `${field}: ${issue.message}, got ${shown(issue, field)}` };
}

function nestedFields(field: string | number | undefined): readonly string[] {
  if (field === 'health') return Object.keys(healthSchema.shape);
  return field === 'overload' ? Object.keys(overloadSchema.shape) : ['id'];
}

function shown(issue: z.core.$ZodIssue, field: string): string {
  if (issue.input === undefined) return 'nothing';
  if (field === 'api_key') return 'another value';
  return JSON.stringify(issue.input).slice(0, 100);
}

function fieldName(path: readonly (string | number)[]): string {
  let name = '';
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`;
    else name += name === '' ? part : `.${part}`;
  }
  return name === '' ? 'worker' : name;
}
