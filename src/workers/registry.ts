import { isDeepStrictEqual } from 'node:util';
import { type BreakerRules, DEFAULT_BREAKER, type Outcome } from './breaker.ts';
import { BreakerTimers } from './breaker-timers.ts';
import { type FleetObserver, SILENT_OBSERVER } from './fleet-observer.ts';
import { FleetSnapshot } from './fleet-snapshot.ts';
import type { WorkerSnapshot } from './snapshot.ts';
import type { JudgedSource } from './snapshot-source.ts';
import { afterProbe, type HealthThresholds, PENDING } from './status-machine.ts';
import type { BreakerState, Worker, WorkerSource, WorkerStatus } from './worker.ts';
import { type ProbeReport, WorkerInstance } from './worker-instance.ts';
import type { WorkerSpec } from './worker-spec.ts';

export interface RegistryOptions {
  /** `--drain-settle-secs`, in milliseconds: longest wait of a removal for requests in flight. */
  readonly drainSettleMs?: number;
  /** `--drain-deadline-secs`, in milliseconds: longest life of pins on a draining worker. */
  readonly drainDeadlineMs?: number;
  /** `--remove-unhealthy-workers`. */
  readonly removeFailed?: boolean;
  readonly observer?: FleetObserver;
  /** `--cb-*` */
  readonly breaker?: BreakerRules;
}

/** What adding a worker came to; `exists` names the worker that is there, even while it drains. */
export interface AddOutcome {
  readonly kind: 'added' | 'exists';
  readonly worker: Worker;
}

/** `removing`: on its way out, which nothing but its source can take back. */
export type DrainOutcome = 'ok' | 'unknown' | 'removing';

/** Ids that a read of a whole source changed; `conflicts` belong to another source and stay as they are. */
export interface SourceChanges {
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly removed: readonly string[];
  readonly conflicts: readonly string[];
}

/** How often a removal looks whether its last request has ended. */
const SETTLE_POLL_MS = 50;
/** Longest delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Owner of the fleet. Every change makes a new snapshot before the call returns.
 *
 * Order is registration order; replacing a worker moves it to the end, updating leaves it in place (policies 2.4).
 */
export class Registry implements JudgedSource {
  readonly #drainSettleMs: number;
  readonly #drainDeadlineMs: number;
  readonly #removeFailed: boolean;
  readonly #observer: FleetObserver;
  readonly #breakerRules: BreakerRules;
  readonly #instances = new Map<string, WorkerInstance>();
  readonly #drainTimers = new Map<WorkerInstance, NodeJS.Timeout>();
  readonly #breakerTimers = new BreakerTimers((instance) => this.#breakerChanged(instance, 'open'));
  readonly #listeners = new Set<(snapshot: WorkerSnapshot) => void>();
  #current = FleetSnapshot.empty;
  #settled = false;
  #judged = false;

  constructor(options: RegistryOptions = {}) {
    this.#drainSettleMs = options.drainSettleMs ?? 5_000;
    this.#drainDeadlineMs = Math.min(options.drainDeadlineMs ?? 3_600_000, MAX_TIMER_MS);
    this.#removeFailed = options.removeFailed ?? false;
    this.#observer = options.observer ?? SILENT_OBSERVER;
    this.#breakerRules = options.breaker ?? DEFAULT_BREAKER;
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
    return this.#instances.values();
  }

  instance(id: string): WorkerInstance | undefined {
    return this.#instances.get(id);
  }

  subscribe(listener: (snapshot: WorkerSnapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Every configured source was read once. */
  markSettled(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#judge();
    this.#tell();
  }

  add(spec: WorkerSpec, source: WorkerSource): AddOutcome {
    const existing = this.#atEndpoint(spec);
    if (existing !== undefined) return { kind: 'exists', worker: existing.worker };
    const instance = this.#register(spec, source);
    this.#publish();
    return { kind: 'added', worker: instance.worker };
  }

  /** Gives the worker at the URL of `spec` another declaration, in its place. Undefined when there is none. */
  update(spec: WorkerSpec): Worker | undefined {
    const instance = this.#instances.get(spec.url.id);
    if (instance === undefined) return undefined;
    this.#redeclare(instance, spec);
    this.#publish();
    return instance.worker;
  }

  /** As `update`, but moves the worker to the end, gives a failed one a new start, and every one a new breaker. */
  replace(spec: WorkerSpec): Worker | undefined {
    const instance = this.#instances.get(spec.url.id);
    if (instance === undefined) return undefined;
    this.#instances.delete(instance.id);
    this.#instances.set(instance.id, instance);
    if (instance.health.status === 'failed') instance.health = PENDING;
    instance.renewBreaker();
    this.#breakerTimers.follow(instance);
    this.#redeclare(instance, spec);
    this.#publish();
    return instance.worker;
  }

  /** Removes a worker: at once with nothing in flight, else when its requests ended or the settle time is over. */
  remove(id: string): 'removed' | 'draining' | 'unknown' {
    const instance = this.#instances.get(id);
    if (instance === undefined) return 'unknown';
    const outcome = this.#beginRemoval(instance);
    this.#publish();
    return outcome;
  }

  /** Soft drain: no new keys; pinned keys stay until the deadline. */
  drain(id: string): DrainOutcome {
    const instance = this.#instances.get(id);
    if (instance === undefined) return 'unknown';
    if (instance.drain?.kind === 'removal') return 'removing';
    if (instance.drain !== null) return 'ok';
    instance.drain = { kind: 'soft', pinsKept: true };
    const timer = setTimeout(() => {
      this.#drainTimers.delete(instance);
      instance.drain = { kind: 'soft', pinsKept: false };
      this.#refresh(instance);
      this.#publish();
    }, this.#drainDeadlineMs);
    this.#drainTimers.set(instance, timer);
    this.#refresh(instance);
    this.#publish();
    return 'ok';
  }

  /** Takes a soft drain back. */
  undrain(id: string): DrainOutcome {
    const instance = this.#instances.get(id);
    if (instance === undefined) return 'unknown';
    if (instance.drain?.kind === 'removal') return 'removing';
    this.#endDrain(instance);
    if (this.#refresh(instance)) this.#publish();
    return 'ok';
  }

  /** Makes the workers of one source what `specs` says, with one snapshot. Workers of other sources stay as they are. */
  replaceSource(source: WorkerSource, specs: readonly WorkerSpec[]): SourceChanges {
    const added: string[] = [];
    const updated: string[] = [];
    const removed: string[] = [];
    const conflicts: string[] = [];
    const wanted = new Set<WorkerInstance>();
    for (const spec of specs) {
      const existing = this.#atEndpoint(spec);
      if (existing === undefined) {
        wanted.add(this.#register(spec, source));
        added.push(spec.url.id);
      } else if (existing.source !== source || existing.id !== spec.url.id || wanted.has(existing)) {
        conflicts.push(spec.url.id);
      } else {
        wanted.add(existing);
        if (this.#keep(existing, spec)) updated.push(existing.id);
      }
    }
    for (const instance of [...this.#instances.values()]) {
      if (instance.source !== source || wanted.has(instance) || instance.drain?.kind === 'removal') continue;
      this.#beginRemoval(instance);
      removed.push(instance.id);
    }
    if (added.length + updated.length + removed.length > 0) this.#publish();
    return { added, updated, removed, conflicts };
  }

  /** Takes in a probe. `counted`: see `afterProbe`. */
  probed(instance: WorkerInstance, report: ProbeReport, thresholds: HealthThresholds, counted: boolean): void {
    if (!this.#has(instance)) return;
    instance.lastProbe = report;
    instance.health = afterProbe(instance.health, report.ok, thresholds, counted);
    // Nobody asks it for its load any more, so that nothing would take the verdict back (policies 2.2).
    if (instance.health.status !== 'ready') instance.overloaded = false;
    this.#observer.probed(instance.worker, report.ok);
    const changed = this.#refresh(instance);
    this.#judge();
    if (instance.health.status === 'failed' && this.#removeFailed) this.#forget(instance);
    else if (!changed) return;
    this.#publish();
  }

  /** Takes in the answer to the question for models; an empty list: serves any. */
  modelsAnswered(instance: WorkerInstance, models: readonly string[]): void {
    if (!this.#has(instance)) return;
    const first = instance.answeredModels === null;
    instance.answeredModels = models;
    if (this.#refresh(instance) || first) this.#publish();
  }

  /** The worker is not to be probed: ready from now on. */
  assumeReady(instance: WorkerInstance): void {
    if (!this.#has(instance)) return;
    instance.assumeReady();
    if (this.#refresh(instance)) this.#publish();
  }

  /** Takes in which workers their last load report calls overloaded, with one snapshot for all (policies 2.2). */
  overloadJudged(verdicts: ReadonlyMap<WorkerInstance, boolean>): void {
    let changed = false;
    for (const [instance, overloaded] of verdicts) {
      if (!this.#has(instance)) continue;
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
    if (!this.#has(instance)) return;
    instance.address = address;
    if (this.#refresh(instance)) this.#publish();
  }

  /** Stops every drain and every wait for a breaker. The last snapshot stays readable. */
  close(): void {
    for (const timer of this.#drainTimers.values()) clearTimeout(timer);
    this.#drainTimers.clear();
    this.#breakerTimers.close();
    this.#listeners.clear();
  }

  #has(instance: WorkerInstance): boolean {
    return this.#instances.get(instance.id) === instance;
  }

  #atEndpoint(spec: WorkerSpec): WorkerInstance | undefined {
    const byId = this.#instances.get(spec.url.id);
    if (byId !== undefined) return byId;
    for (const instance of this.#instances.values()) {
      if (instance.spec.url.endpoint === spec.url.endpoint) return instance;
    }
    return undefined;
  }

  #register(spec: WorkerSpec, source: WorkerSource): WorkerInstance {
    const instance = new WorkerInstance(spec, source, this.#breakerRules);
    this.#instances.set(instance.id, instance);
    this.#observer.added(instance.worker);
    return instance;
  }

  /** A source names a worker again: takes back its removal, takes over what changed. True when anything did. */
  #keep(instance: WorkerInstance, spec: WorkerSpec): boolean {
    const leaving = instance.drain?.kind === 'removal';
    if (leaving) this.#endDrain(instance);
    else if (isDeepStrictEqual(instance.spec, spec)) return false;
    this.#redeclare(instance, spec);
    return true;
  }

  #redeclare(instance: WorkerInstance, spec: WorkerSpec): void {
    // A worker whose declared models are withdrawn has to be asked; an answer it gave before would be old.
    if (instance.spec.models.length > 0 && spec.models.length === 0) instance.answeredModels = null;
    instance.spec = spec;
    this.#refresh(instance);
  }

  #beginRemoval(instance: WorkerInstance): 'removed' | 'draining' {
    if (instance.load.requests === 0) {
      this.#forget(instance);
      return 'removed';
    }
    if (instance.drain?.kind === 'removal') return 'draining';
    this.#endDrain(instance);
    instance.drain = { kind: 'removal' };
    instance.overloaded = false;
    this.#refresh(instance);
    const deadline = performance.now() + this.#drainSettleMs;
    const timer = setInterval(() => {
      if (instance.load.requests > 0 && performance.now() < deadline) return;
      this.#forget(instance);
      this.#publish();
    }, SETTLE_POLL_MS);
    this.#drainTimers.set(instance, timer);
    return 'draining';
  }

  #endDrain(instance: WorkerInstance): void {
    clearTimeout(this.#drainTimers.get(instance));
    this.#drainTimers.delete(instance);
    instance.drain = null;
  }

  #forget(instance: WorkerInstance): void {
    this.#endDrain(instance);
    this.#breakerTimers.forget(instance);
    this.#instances.delete(instance.id);
    this.#observer.removed(instance.worker);
  }

  #breakerChanged(instance: WorkerInstance, previous: BreakerState): void {
    this.#refresh(instance);
    this.#observer.breakerChanged(instance.worker, previous);
    this.#publish();
  }

  #refresh(instance: WorkerInstance): boolean {
    const previous: WorkerStatus = instance.worker.status;
    const changed = instance.refresh();
    if (instance.worker.status !== previous) this.#observer.statusChanged(instance.worker, previous);
    return changed;
  }

  #judge(): void {
    if (this.#judged || !this.#settled) return;
    for (const { health, lastProbe } of this.#instances.values()) {
      if (health.status === 'pending' && (lastProbe === null || lastProbe.ok)) return;
    }
    this.#judged = true;
  }

  #publish(): void {
    this.#judge();
    this.#current = FleetSnapshot.after(this.#current, [...this.#instances.values()]);
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener(this.#current);
  }
}
