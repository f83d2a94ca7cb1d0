import { isDeepStrictEqual } from 'node:util';
import { Listeners } from '../util/listeners.ts';
import { type BreakerRules, DEFAULT_BREAKER, type Outcome } from './breaker.ts';
import { BreakerTimers } from './breaker-timers.ts';
import { Drains } from './drains.ts';
import { type AddOutcome, type DrainOutcome, noChanges, type SourceChanges } from './fleet-changes.ts';
import { type FleetObserver, SILENT_OBSERVER } from './fleet-observer.ts';
import { FleetSnapshot } from './fleet-snapshot.ts';
import { InstanceTable } from './instance-table.ts';
import type { EngineKind } from './leg-facts.ts';
import { rankSpecs } from './ranks.ts';
import type { RegistryOptions } from './registry-options.ts';
import { LOCAL_LOADS, type LoadTable } from './shared-loads.ts';
import type { WorkerSnapshot } from './snapshot.ts';
import type { JudgedSource } from './snapshot-source.ts';
import { declared, type Incarnation, type SourcedWorker } from './sourced-worker.ts';
import { afterProbe, type HealthThresholds, PENDING } from './status-machine.ts';
import type { Worker } from './worker.ts';
import { type ProbeReport, WorkerInstance } from './worker-instance.ts';
import type { BreakerState, WorkerSource } from './worker-kinds.ts';
import type { WorkerSpec } from './worker-spec.ts';

/**
 * Owner of the fleet. Every change makes a new snapshot before the call returns.
 *
 * Order is registration order; replacing a worker moves it to the end, updating leaves it in place (policies 2.4).
 */
export class Registry implements JudgedSource {
  readonly #removeFailed: boolean | WorkerSource;
  readonly #observer: FleetObserver;
  readonly #breakerRules: BreakerRules;
  readonly #loads: LoadTable;
  readonly dpAware: boolean;
  readonly #instances = new InstanceTable();
  readonly #drains: Drains;
  readonly #breakerTimers = new BreakerTimers((instance) => this.#breakerChanged(instance, 'open'));
  readonly #listeners = new Listeners<[snapshot: WorkerSnapshot]>();
  #current: FleetSnapshot;
  #settled = false;
  #judged = false;

  constructor(options: RegistryOptions = {}) {
    this.#drains = new Drains({
      settleMs: options.drainSettleMs ?? 5_000,
      deadlineMs: options.drainDeadlineMs ?? 3_600_000,
      onDeadline: (instance) => {
        this.#refresh(instance);
        this.#publish();
      },
      onSettled: (instance) => {
        this.#forget(instance);
        this.#publish();
      },
    });
    this.#removeFailed = options.removeFailed ?? false;
    this.#observer = options.observer ?? SILENT_OBSERVER;
    this.#breakerRules = options.breaker ?? DEFAULT_BREAKER;
    this.#loads = options.loads ?? LOCAL_LOADS;
    this.dpAware = options.dpAware ?? false;
    this.#current = FleetSnapshot.start(options.disaggregated ?? false);
  }

  get current(): WorkerSnapshot {
    return this.#current;
  }

  get settled(): boolean {
    return this.#settled;
  }

  get judged(): boolean {
    return this.#judged;
  }

  /** Registrations in order, with what snapshots do not show (specs, last probes). */
  get instances(): Iterable<WorkerInstance> {
    return this.#instances.all;
  }

  instance(id: string): WorkerInstance | undefined {
    return this.#instances.get(id);
  }

  /** The worker of that id, or all ranks of the engine at that base URL; empty when there is neither. */
  named(id: string): readonly WorkerInstance[] {
    return this.#instances.named(id);
  }

  subscribe(listener: (snapshot: WorkerSnapshot) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Every configured source was read once. */
  markSettled(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#judge();
    this.#listeners.tell(this.#current);
  }

  add(spec: WorkerSpec, source: WorkerSource): AddOutcome {
    const existing = this.#instances.overlapping(spec.url);
    if (existing !== undefined) return { kind: 'exists', worker: existing.worker };
    const instance = this.#register(declared(spec), source);
    this.#publish();
    return { kind: 'added', worker: instance.worker };
  }

  /** Gives the workers named by the URL of `spec` another declaration, in their place. Undefined when there is none. */
  update(spec: WorkerSpec): Worker | undefined {
    const named = this.named(spec.url.id);
    for (const instance of named) this.#redeclare(instance, spec);
    if (named.length > 0) this.#publish();
    return named[0]?.worker;
  }

  /** As `update`, but moves the workers to the end, gives failed ones a new start, and every one a new breaker. */
  replace(spec: WorkerSpec): Worker | undefined {
    const named = this.named(spec.url.id);
    for (const instance of named) {
      this.#instances.moveToEnd(instance);
      if (instance.health.status === 'failed') instance.health = PENDING;
      instance.renewBreaker();
      this.#breakerTimers.follow(instance);
      this.#redeclare(instance, spec);
    }
    if (named.length > 0) this.#publish();
    return named[0]?.worker;
  }

  /** Removes the workers named: at once with nothing in flight, else when its requests ended or the settle time is over. */
  remove(id: string): 'removed' | 'draining' | 'unknown' {
    const named = this.named(id);
    if (named.length === 0) return 'unknown';
    const outcomes = named.map((instance) => this.#beginRemoval(instance));
    this.#publish();
    return outcomes.includes('draining') ? 'draining' : 'removed';
  }

  /** Soft drain: no new keys; pinned keys stay until the deadline. */
  drain(id: string): DrainOutcome {
    return this.#eachNamed(id, (instance) => this.#drains.beginSoft(instance));
  }

  /** Takes a soft drain back. */
  undrain(id: string): DrainOutcome {
    return this.#eachNamed(id, (instance) => this.#drains.end(instance));
  }

  /** Makes the workers of one source what `specs` says, with one snapshot. Workers of other sources stay as they are. */
  replaceSource(source: WorkerSource, specs: readonly WorkerSpec[]): SourceChanges {
    return this.followSource(source, specs.map(declared));
  }

  /** The same for a source that also tells how its workers do. One that is not up is not taken in, but kept. */
  followSource(source: WorkerSource, workers: readonly SourcedWorker[]): SourceChanges {
    const { added, updated, removed, conflicts } = noChanges();
    const wanted = new Set<WorkerInstance>();
    for (const worker of workers) {
      const { spec } = worker;
      let [first] = this.#instances.declared(spec.url.id);
      if (first?.source === source && first.incarnation !== worker.incarnation && !wanted.has(first)) {
        // Whoever it was is gone, and what was in flight there with it.
        for (const instance of this.#instances.declared(spec.url.id)) this.#forget(instance);
        removed.push(spec.url.id);
        first = undefined;
      }
      if (first === undefined && this.#instances.overlapping(spec.url) === undefined) {
        if (worker.state !== 'up') continue;
        wanted.add(this.#register(worker, source));
        added.push(spec.url.id);
      } else if (first === undefined || first.source !== source || wanted.has(first)) {
        conflicts.push(spec.url.id);
      } else {
        // A rank that was removed by hand comes back, as every worker of a source does.
        const { created, kept } = first.asksRanks ? this.#fit(spec, first) : { created: [], kept: [first] };
        for (const instance of [...created, ...kept]) wanted.add(instance);
        added.push(...created.map((instance) => instance.id));
        updated.push(...kept.filter((instance) => this.#keep(instance, worker)).map((instance) => instance.id));
      }
    }
    for (const instance of [...this.#instances.all]) {
      if (instance.source !== source || wanted.has(instance) || instance.isBeingRemoved) continue;
      this.#beginRemoval(instance);
      removed.push(instance.id);
    }
    if (added.length + updated.length + removed.length > 0) this.#publish();
    return { added, updated, removed, conflicts };
  }

  /** Takes in a probe. `counted`: see `afterProbe`. */
  probed(instance: WorkerInstance, report: ProbeReport, thresholds: HealthThresholds, counted: boolean): void {
    if (!this.#instances.holds(instance)) return;
    instance.lastProbe = report;
    instance.health = afterProbe(instance.health, report.ok, thresholds, counted);
    // Nobody asks it for its load any more, so that nothing would take the verdict back (policies 2.2).
    if (instance.health.status !== 'ready') instance.overloaded = false;
    this.#observer.probed(instance.worker, report.ok);
    const changed = this.#refresh(instance);
    this.#judge();
    if (instance.isFailed && [true, instance.source].includes(this.#removeFailed)) this.#forget(instance);
    else if (!changed) return;
    this.#publish();
  }

  /** Takes in the answer to the question for models; an empty list: serves any. */
  modelsAnswered(instance: WorkerInstance, models: readonly string[]): void {
    if (!this.#instances.holds(instance)) return;
    const first = instance.answeredModels === null;
    instance.answeredModels = models;
    if (this.#refresh(instance) || first) this.#publish();
  }

  /** Takes in which engine a worker is. */
  engineTold(instance: WorkerInstance, kind: EngineKind): void {
    if (!this.#instances.holds(instance)) return;
    instance.engineKind = kind;
    if (this.#refresh(instance)) this.#publish();
  }

  /**
   * Takes in how many data-parallel ranks the engine of a worker has: the worker becomes one for each, in its place.
   *
   * @param size null: it has none that could be addressed
   */
  ranksAnswered(instance: WorkerInstance, size: number | null): void {
    if (!this.#instances.holds(instance) || !instance.asksRanks) return;
    const dpSize = size ?? 1;
    const members = this.#instances.declared(instance.declaredId);
    if (members.every((member) => member.dpSize === dpSize)) return;
    for (const member of members) member.dpSize = dpSize;
    this.#observer.ranksTold(instance.worker, size);
    this.#fit(instance.spec, instance);
    for (const member of this.#instances.declared(instance.declaredId)) this.#refresh(member);
    this.#publish();
  }

  /** The worker is not to be probed: ready from now on. */
  assumeReady(instance: WorkerInstance): void {
    if (!this.#instances.holds(instance)) return;
    instance.assumeReady();
    if (this.#refresh(instance)) this.#publish();
  }

  /** Takes in which workers their last load report calls overloaded, with one snapshot for all (policies 2.2). */
  overloadJudged(verdicts: ReadonlyMap<WorkerInstance, boolean>): void {
    let changed = false;
    for (const [instance, overloaded] of verdicts) {
      if (!this.#instances.holds(instance)) continue;
      instance.overloaded = overloaded && instance.health.status === 'ready';
      if (this.#refresh(instance)) changed = true;
    }
    if (changed) this.#publish();
  }

  /**
   * Takes in how one attempt at a worker went (policies 2.3); nothing when the id is unknown. Called for each request:
   * makes a snapshot only when the breaker changes its state.
   */
  attempted(id: string, outcome: Outcome): void {
    const instance = this.#instances.get(id);
    if (instance === undefined) return;
    const previous = instance.breaker.state;
    if (!instance.breaker.record(outcome, performance.now())) return;
    this.#breakerTimers.follow(instance);
    this.#breakerChanged(instance, previous);
  }

  /** Takes in the address its name resolves to; empty when it resolves to none. */
  resolved(instance: WorkerInstance, address: string): void {
    if (!this.#instances.holds(instance)) return;
    instance.address = address;
    if (this.#refresh(instance)) this.#publish();
  }

  /** Stops every drain and every wait for a breaker. The last snapshot stays readable. */
  close(): void {
    this.#drains.close();
    this.#breakerTimers.close();
    this.#listeners.clear();
  }

  #register(worker: SourcedWorker, source: WorkerSource): WorkerInstance {
    return this.#create(worker, source, this.dpAware && worker.spec.url.rank === null);
  }

  #create(worker: Incarnation, source: WorkerSource, asksRanks: boolean): WorkerInstance {
    const load = this.#loads.counterFor(worker.spec.url.id);
    const instance = new WorkerInstance(worker, source, this.#breakerRules, asksRanks, load);
    this.#instances.add(instance);
    this.#observer.added(instance.worker);
    return instance;
  }

  /** Makes the workers of a declared engine those of its present ranks. `first`: one of them, which new ones take after. */
  #fit(spec: WorkerSpec, first: WorkerInstance): { created: WorkerInstance[]; kept: WorkerInstance[] } {
    const { source, dpSize, drain, declaredId, unready, incarnation } = first;
    const members = this.#instances.declared(declaredId);
    const created: WorkerInstance[] = [];
    const kept: WorkerInstance[] = [];
    const next: WorkerInstance[] = [];
    for (const each of rankSpecs(spec, dpSize)) {
      const there = this.#instances.get(each.url.id);
      // A rank that was declared by itself stays so.
      if (there !== undefined && there.declaredId !== declaredId) continue;
      const instance = there ?? this.#create({ spec: each, incarnation }, source, true);
      instance.dpSize = dpSize;
      if (there === undefined) instance.unready = unready;
      (there === undefined ? created : kept).push(instance);
      next.push(instance);
    }
    this.#instances.rearrange(members, next);
    for (const instance of created) {
      if (drain?.kind === 'soft') this.#drains.beginSoft(instance);
      else if (drain?.announced === true) this.#drains.announceRemoval(instance);
      this.#refresh(instance);
    }
    for (const member of members) if (!next.includes(member)) this.#beginRemoval(member);
    return { created, kept };
  }

  #eachNamed(id: string, change: (instance: WorkerInstance) => void): DrainOutcome {
    const named = this.named(id);
    if (named.length === 0) return 'unknown';
    if (named.every(({ drain }) => drain?.kind === 'removal')) return 'removing';
    let changed = false;
    for (const instance of named) {
      if (instance.drain?.kind === 'removal') continue;
      change(instance);
      if (this.#refresh(instance)) changed = true;
    }
    if (changed) this.#publish();
    return 'ok';
  }

  /** A source names a worker again: takes back its removal, takes over what changed. True when anything did. */
  #keep(instance: WorkerInstance, { spec, state }: SourcedWorker): boolean {
    const leaving = instance.drain?.kind === 'removal';
    const sameState = leaving === (state === 'leaving') && instance.unready === (state === 'unready');
    if (sameState && isDeepStrictEqual(instance.spec, { ...spec, url: instance.spec.url })) return false;
    if (state === 'leaving') this.#drains.announceRemoval(instance);
    else if (leaving) this.#drains.end(instance);
    instance.told(state === 'unready');
    this.#redeclare(instance, spec);
    return true;
  }

  /** @param spec of the worker, or of the engine of which it is a rank */
  #redeclare(instance: WorkerInstance, spec: WorkerSpec): void {
    // A worker whose declared models are withdrawn has to be asked; an answer it gave before would be old.
    if (!instance.asksModels && spec.models.length === 0) instance.answeredModels = null;
    instance.spec = { ...spec, url: instance.spec.url };
    this.#refresh(instance);
  }

  #beginRemoval(instance: WorkerInstance): 'removed' | 'draining' {
    if (instance.load.requests === 0) {
      this.#forget(instance);
      return 'removed';
    }
    this.#drains.beginRemoval(instance);
    instance.overloaded = false;
    this.#refresh(instance);
    return 'draining';
  }

  #forget(instance: WorkerInstance): void {
    this.#drains.end(instance);
    this.#breakerTimers.forget(instance);
    this.#instances.delete(instance);
    this.#loads.retired(instance.id, instance.load);
    this.#observer.removed(instance.worker);
  }

  #breakerChanged(instance: WorkerInstance, previous: BreakerState): void {
    this.#refresh(instance);
    this.#observer.breakerChanged(instance.worker, previous);
    this.#publish();
  }

  #refresh(instance: WorkerInstance): boolean {
    const { status } = instance.worker;
    const changed = instance.refresh();
    if (instance.worker.status !== status) this.#observer.statusChanged(instance.worker, status);
    return changed;
  }

  #judge(): void {
    if (this.#settled && !this.#judged) this.#judged = [...this.#instances.all].every(({ isJudged }) => isJudged);
  }

  #publish(): void {
    this.#judge();
    this.#current = FleetSnapshot.after(this.#current, [...this.#instances.all]);
    this.#listeners.tell(this.#current);
  }
}
