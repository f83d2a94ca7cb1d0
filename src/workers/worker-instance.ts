import { isDeepStrictEqual } from 'node:util';
import { Breaker, type BreakerRules } from './breaker.ts';
import { EngineLoadRecord } from './engine-load.ts';
import { type EngineKind, type LegFacts, legFactsOf } from './leg-facts.ts';
import { LoadCounter } from './load-counter.ts';
import type { Incarnation } from './sourced-worker.ts';
import { type HealthState, PENDING, READY } from './status-machine.ts';
import { isUp, type Worker } from './worker.ts';
import type { WorkerSource, WorkerStatus } from './worker-kinds.ts';
import type { WorkerSpec } from './worker-spec.ts';
import { rankId } from './worker-url.ts';

/** The last probe of a worker, for people to look at. */
export interface ProbeReport {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly ok: boolean;
  /** `HTTP 200`, `timeout`, or what went wrong on the way. */
  readonly detail: string;
  readonly durationMs: number;
}

/**
 * How a worker leaves the fleet (decisions 40): `soft` keeps the pins until its deadline, `removal` ends with the worker
 * gone. A removal is `announced` while its source still names it as leaving.
 */
export type Drain =
  | { readonly kind: 'soft'; readonly pinsKept: boolean }
  | { readonly kind: 'removal'; readonly announced: boolean };

/**
 * One registration of a worker: everything known of it that changes. Written by the registry only. A worker that leaves
 * and returns at the same URL is another instance.
 */
export class WorkerInstance {
  readonly id: string;
  readonly load: LoadCounter;
  readonly engine = new EngineLoadRecord();
  /** See `Incarnation`. */
  readonly incarnation: string;
  /** Its engine says how many data-parallel ranks it has, and so whether the worker is one of them (`--dp-aware`). */
  readonly asksRanks: boolean;
  /** Ranks of its engine; null until it was asked. */
  dpSize: number | null = null;
  spec: WorkerSpec;
  source: WorkerSource;
  health: HealthState;
  /** Model ids it answered with (empty: serves any); null until it was asked. */
  answeredModels: readonly string[] | null = null;
  /** Which engine it is, of prefill and decode workers; null until it was asked. */
  engineKind: EngineKind | null = null;
  address: string;
  drain: Drain | null = null;
  breaker: Breaker;
  overloaded = false;
  /** Its source says that it takes no requests now, whatever probes say. */
  unready = false;
  lastProbe: ProbeReport | null = null;
  readonly #breakerRules: BreakerRules;
  #legFacts: LegFacts | null = null;
  #worker: Worker;

  constructor(
    { spec, incarnation }: Incarnation,
    source: WorkerSource,
    breakerRules: BreakerRules,
    asksRanks = false,
    load = new LoadCounter(),
  ) {
    this.id = spec.url.id;
    this.load = load;
    this.incarnation = incarnation;
    this.asksRanks = asksRanks;
    this.spec = spec;
    this.source = source;
    this.health = PENDING;
    this.address = spec.url.address;
    this.#breakerRules = breakerRules;
    this.breaker = new Breaker(breakerRules);
    this.#worker = this.#derive();
  }

  /** The worker as readers see it, as of the last `refresh`. */
  get worker(): Worker {
    return this.#worker;
  }

  /** Id of what was declared: ranks that an engine told of belong to its base. */
  get declaredId(): string {
    return this.asksRanks ? this.spec.url.base : this.id;
  }

  /** It may take no request yet: whether it is one worker or several is open. */
  get awaitsRanks(): boolean {
    return this.asksRanks && this.dpSize === null;
  }

  /** The engine is to say which models it has. */
  get asksModels(): boolean {
    return this.spec.models.length === 0 || this.spec.modelsBeside;
  }

  /** On its way out, with nothing to wait for but its requests. */
  get isBeingRemoved(): boolean {
    return this.drain?.kind === 'removal' && !this.drain.announced;
  }

  get modelsKnown(): boolean {
    return !this.asksModels || this.answeredModels !== null;
  }

  /** It is to be asked which engine it is, which decides how its legs are brought together. */
  get awaitsEngineKind(): boolean {
    return this.spec.workerType !== 'regular' && this.engineKind === null;
  }

  /** Brings `worker` up to date; false when readers would see no difference. */
  refresh(): boolean {
    const next = this.#derive();
    if (isDeepStrictEqual(next, this.#worker)) return false;
    this.#worker = next;
    return true;
  }

  /** Its past says nothing of it any more. */
  renewBreaker(): void {
    this.breaker = new Breaker(this.#breakerRules);
  }

  get isFailed(): boolean {
    return this.health.status === 'failed';
  }

  /** Probes had a first word on it. */
  get isJudged(): boolean {
    return this.health.status !== 'pending' || (this.lastProbe !== null && !this.lastProbe.ok);
  }

  /** Its source says so. Once it is back, and probes had lost it, they begin anew: it may be another engine. */
  told(unready: boolean): void {
    const isBack = this.unready && !unready;
    this.unready = unready;
    if (!isBack || this.health.status === 'ready') return;
    this.health = PENDING;
    this.answeredModels = null;
    this.engineKind = null;
  }

  /** Ready without probes: health checks are off for it. */
  assumeReady(): void {
    this.health = READY;
  }

  #derive(): Worker {
    const { spec, drain, address, overloaded } = this;
    const { base, rank } = spec.url;
    const breaker = this.breaker.state;
    const beforeDrain = this.#statusBeforeDrain();
    const able = !overloaded && isUp({ status: beforeDrain, address, breaker });
    return {
      id: this.id,
      url: base,
      rank,
      dpSize: rank === null ? null : this.dpSize,
      name: rankId(spec.name ?? base, rank),
      type: spec.workerType,
      legFacts: this.#factsOfLeg(),
      source: this.source,
      models: this.#models(),
      status: drain === null ? beforeDrain : 'draining',
      address,
      breaker,
      overloaded,
      placeable: able && drain === null,
      keepsPins: able && (drain === null || (drain.kind === 'soft' && drain.pinsKept)),
      load: this.load,
      engine: this.engine,
      priority: spec.priority,
      cost: spec.cost,
      labels: spec.labels,
    };
  }

  #factsOfLeg(): LegFacts | null {
    const facts = legFactsOf(this.spec, this.engineKind);
    if (!isDeepStrictEqual(facts, this.#legFacts)) this.#legFacts = facts;
    return this.#legFacts;
  }

  #statusBeforeDrain(): WorkerStatus {
    return this.unready && this.health.status === 'ready' ? 'not_ready' : this.health.status;
  }

  #models(): readonly string[] {
    const { models } = this.spec;
    const answered = this.asksModels ? (this.answeredModels ?? []) : [];
    if (models.length === 0) return answered;
    return answered.length === 0 ? models : [...new Set([...models, ...answered])];
  }
}
