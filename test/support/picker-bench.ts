import { SETTINGS } from '../../src/config/settings-table.ts';
import type { PickAnswer, RefusalAnswer, StreamFacts } from '../../src/picker/answer.ts';
import { BreakerFeed } from '../../src/picker/breaker-feed.ts';
import { DecisionRing } from '../../src/picker/decision-ring.ts';
import { PickCounters } from '../../src/picker/pick-counters.ts';
import { PickIds } from '../../src/picker/pick-ids.ts';
import { Picker } from '../../src/picker/picker.ts';
import type { PickerConfig } from '../../src/picker/picker-parts.ts';
import { PinFollower } from '../../src/picker/pin-follower.ts';
import type { PrefillDispatch } from '../../src/picker/prefill-dispatch.ts';
import type { RequestEnd } from '../../src/picker/request-end.ts';
import { RequestEnds } from '../../src/picker/request-ends.ts';
import { ServedFeedback } from '../../src/picker/served-feedback.ts';
import { MemoryPinStore } from '../../src/pins/memory-pin-store.ts';
import type { PinStore } from '../../src/pins/pin-store.ts';
import { RequestIds } from '../../src/request/request-id.ts';
import type { AssignmentMode } from '../../src/routing/assignment.ts';
import { bodyMembersFor } from '../../src/routing/key-sources.ts';
import type { ModelPolicies } from '../../src/routing/model-policies.ts';
import { PairRouter } from '../../src/routing/pairing/pair-router.ts';
import type { PolicyName } from '../../src/routing/policy-name.ts';
import { createRouter, type Router, type RouterOptions } from '../../src/routing/router.ts';
import { createLog, type LogLevel } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import type { Draws } from '../../src/util/random.ts';
import { InFlightLedger } from '../../src/workers/in-flight-ledger.ts';
import { Registry } from '../../src/workers/registry.ts';
import type { Worker } from '../../src/workers/worker.ts';
import { type HeadParts, headOf } from './head.ts';
import { specOf } from './registry-bench.ts';
import { type KeyParts, keyRules, modelPolicies, type PairParts, policyOptions, ROUTER_DEFAULTS } from './routing.ts';

export const FACTS: StreamFacts = {
  periodicLogMs: 10_000,
  endpointPicker: false,
  editsBody: true,
  pickId: null,
  subset: null,
};

/** Wall time of the bench at 0 of its clock. */
export const EPOCH = Date.UTC(2026, 0, 1);

export interface PickerBenchOptions {
  readonly policy?: PolicyName;
  readonly mode?: AssignmentMode;
  readonly keys?: KeyParts;
  readonly pins?: (local: MemoryPinStore) => PinStore;
  readonly config?: Partial<PickerConfig>;
  readonly routing?: Partial<Omit<RouterOptions, 'policies' | 'pins' | 'keys'>>;
  readonly router?: (real: Router) => Router;
  /** Makes it the picker of a fleet that is split. */
  readonly pair?: PairParts & { readonly dispatch: PrefillDispatch };
  readonly envoyKnows?: (address: string) => boolean;
  readonly logLevel?: LogLevel;
  /** By default always 0. */
  readonly draws?: Draws;
}

/** A picker over a real registry, ledger, store and metrics; nothing probes the workers. */
export class PickerBench {
  readonly registry: Registry;
  readonly ledger = new InFlightLedger({ workerById: (id) => this.registry.current.byId(id) });
  readonly metrics = createMetrics();
  readonly failures: unknown[] = [];
  /** Lines of its log, as JSON. */
  readonly logged: string[] = [];
  readonly local = new MemoryPinStore({ maxPins: 1000 });
  readonly pins: PinStore;
  readonly config: PickerConfig;
  readonly picker: Picker;
  readonly policies: ModelPolicies;
  /** Of the whole, and of the legs. */
  readonly allPolicies: readonly ModelPolicies[];
  readonly ends: RequestEnds;
  readonly feedback: ServedFeedback;
  readonly breakers: BreakerFeed;
  readonly ring: DecisionRing;
  now = 1000;

  constructor(options: PickerBenchOptions = {}) {
    const { pair } = options;
    this.registry = new Registry({ dpAware: true, disaggregated: pair !== undefined });
    this.breakers = new BreakerFeed(this.registry, this.ledger);
    this.pins = options.pins?.(this.local) ?? this.local;
    const keys = keyRules(options.keys);
    const manualMode = options.mode ?? 'random';
    this.policies = modelPolicies(options.policy ?? 'round_robin', policyOptions({ keys, manualMode }));
    this.registry.subscribe((snapshot) => this.policies.follow(snapshot));
    const routing: RouterOptions = {
      ...ROUTER_DEFAULTS,
      ...(options.mode === undefined ? {} : { overrideMode: options.mode }),
      ...options.routing,
      policies: this.policies,
      pins: this.pins,
      keys,
    };
    const legPolicy = (name = options.policy ?? 'round_robin') =>
      modelPolicies(name, policyOptions({ keys, manualMode }));
    const legs = { prefill: legPolicy(pair?.prefill), decode: legPolicy(pair?.decode) };
    this.allPolicies = [this.policies, legs.prefill, legs.decode];
    const single = createRouter(routing);
    const router =
      pair === undefined
        ? single
        : new PairRouter(single, routing, {
            ...legs,
            mode: pair.mode ?? 'lenient',
            readsBodies: pair.readsBodies ?? true,
            mirrored: pair.mirrored ?? false,
          });
    const clock = (): number => this.now;
    const write = (line: string): void => void this.logged.push(line);
    const onFailure = (error: unknown): void => void this.failures.push(error);
    this.config = {
      router: options.router?.(router) ?? router,
      bodyMembers: bodyMembersFor(keys.sources),
      maxPayloadBytes: 1000,
      bodyEditLimitBytes: 16_777_216,
      requestIdHeaders: SETTINGS.requestIdHeaders.default,
      errorStyle: null,
      decisionHeader: false,
      testEndpointSelection: false,
      shedRetryAfterSecs: 10,
      modelAliases: new Map(),
      routeRetries: 4,
      prefillRetry: { mostTries: 5, initialMs: 0, maxMs: 0, multiplier: 1, jitter: 0 },
      ...options.config,
    };
    this.ring = new DecisionRing({ mode: 'auto', clock, wallClock: () => EPOCH + this.now });
    this.picker = new Picker(
      {
        fleet: this.registry,
        pins: this.pins,
        ledger: this.ledger,
        counters: new PickCounters(this.metrics),
        watch: this.ring,
        log: createLog({ level: options.logLevel ?? 'error', json: true, destination: { write } }),
        pickIds: new PickIds('r1'),
        requestIds: new RequestIds((bytes) => bytes.fill(0)),
        random: options.draws?.random ?? (() => 0),
        ahead: options.draws?.ahead ?? (() => () => 0),
        clock,
        envoyKnows: options.envoyKnows ?? (() => true),
        onFailure,
        dispatch: pair?.dispatch ?? NO_PREFILL,
        attempted: (workerId, outcome) => this.registry.attempted(workerId, outcome),
      },
      this.config,
    );
    const { registry: fleet, pins, ledger, breakers, metrics } = this;
    const follower = new PinFollower({ fleet, pins, metrics, router: () => this.picker.router, onFailure });
    const told = { fleet, pins, ledger, breakers, follower, clock };
    this.ends = new RequestEnds({ ...told, metrics });
    this.feedback = new ServedFeedback(told);
  }

  /** Registers workers that are ready at once; `id` is `http://10.0.0.N:8000`. */
  ready(...numbers: readonly number[]): this {
    for (const n of numbers) this.add(n, {});
    this.registry.markSettled();
    return this;
  }

  /** All sources were read and named this worker; nothing probed it yet. */
  announce(n: number): void {
    this.#register(n, {});
    this.registry.markSettled();
  }

  add(n: number, fields: Record<string, unknown>): void {
    this.addUrl(urlOf(n), fields);
  }

  /** Registers a worker at an address of its own that is ready at once. */
  addUrl(url: string, fields: Record<string, unknown> = {}): void {
    this.registry.add(specOf(url, fields), 'flags');
    this.registry.ranksAnswered(this.registry.instance(url)!, null);
    this.#becomeReady(url);
  }

  /** Registers an engine with data-parallel ranks that are ready at once; ids are `http://10.0.0.N:8000@RANK`. */
  engine(n: number, ranks: number, fields: Record<string, unknown> = {}): this {
    this.#register(n, fields);
    this.registry.ranksAnswered(this.registry.instance(urlOf(n))!, ranks);
    this.#becomeReady(urlOf(n));
    this.registry.markSettled();
    return this;
  }

  #becomeReady(id: string): void {
    for (const instance of this.registry.named(id)) {
      if (!instance.modelsKnown) this.registry.modelsAnswered(instance, []);
      this.registry.assumeReady(instance);
    }
  }

  #register(n: number, fields: Record<string, unknown>): void {
    this.registry.add(specOf(urlOf(n), fields), 'flags');
  }

  worker(n: number): Worker {
    return this.registry.current.byId(urlOf(n))!;
  }

  down(n: number): void {
    const instance = this.registry.instance(urlOf(n))!;
    const report = { at: 0, ok: false, detail: 'down', durationMs: 1 };
    this.registry.probed(instance, report, { successThreshold: 1, failureThreshold: 1 }, true);
  }

  up(n: number): void {
    this.registry.assumeReady(this.registry.instance(urlOf(n))!);
  }

  /** A chat request with this body; its headers decide alone when there is none. */
  ask(body: unknown, parts: HeadParts = {}, facts: StreamFacts = FACTS) {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    return this.picker.pick(chat(parts), body === null ? null : { bytes, complete: true }, facts);
  }

  pick(body: unknown, parts: HeadParts = {}): PickAnswer {
    const answer = this.ask(body, parts);
    if (answer instanceof Promise || answer.kind !== 'pick') throw new Error(`no pick: ${JSON.stringify(answer)}`);
    return answer;
  }

  refusal(body: unknown, parts: HeadParts = {}, facts: StreamFacts = FACTS): RefusalAnswer {
    const answer = this.ask(body, parts, facts);
    if (answer instanceof Promise || answer.kind !== 'refusal')
      throw new Error(`no refusal: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Envoy tells that a request has ended at worker `n`. */
  end(pickId: string, n: number, overrides: Partial<RequestEnd> = {}): void {
    this.ends.ended({ ...endOf(pickId, n), ...overrides }, this.now);
  }
}

/** Every decode worker computes its prompts itself. */
const NO_PREFILL: PrefillDispatch = {
  start: () => ({ kind: 'handoff', body: null, leftTo: null }),
};

export function urlOf(n: number): string {
  return `http://10.0.0.${n}:8000`;
}

export function chat(parts: HeadParts = {}) {
  return headOf({ method: 'POST', path: '/v1/chat/completions', ...parts });
}

export function endOf(pickId: string, n: number): RequestEnd {
  return {
    pickId,
    workerId: urlOf(n),
    servedAddress: `10.0.0.${n}:8000`,
    rank: null,
    status: 200,
    codeDetails: 'via_upstream',
    attempts: 1,
    durationMs: 5,
    firstByteMs: 4,
    retriesUsedUp: false,
    clientGone: false,
    attemptsLogged: true,
  };
}
