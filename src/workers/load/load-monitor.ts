import { type AskWorker, askWorker } from '../ask-worker.ts';
import { ConcurrencyGate } from '../concurrency-gate.ts';
import type { Registry } from '../registry.ts';
import type { WorkerInstance } from '../worker-instance.ts';
import { LoadLoop, type LoadLoopContext } from './load-loop.ts';
import { type LoadObserver, SILENT_LOAD_OBSERVER } from './load-observer.ts';
import { isProtected, type OverloadRule, ruleFor } from './overload.ts';

export interface LoadMonitorOptions {
  /** `--load-monitor-interval`, in milliseconds. */
  readonly intervalMs: number;
  /** `--stale-report-intervals`; 0: reports never go stale. */
  readonly staleIntervals: number;
  /** Rule of the fleet. */
  readonly overload: OverloadRule;
  /** Whether anything else than overload protection looks at load reports now. */
  readonly needed: () => boolean;
  readonly observer?: LoadObserver;
  readonly ask?: AskWorker;
  readonly clock?: () => number;
  readonly random?: () => number;
}

/** Polls at once over all workers. */
const MAX_POLLS = 128;
/** Verdicts of one moment go into one snapshot. */
const BATCH_MS = 5;

/**
 * Asks the ready workers for their load wherever a decision looks at it (policies 3, decisions 10), writes the reports to
 * the instances and tells the registry who is overloaded.
 */
export class LoadMonitor {
  readonly #registry: Registry;
  readonly #options: LoadMonitorOptions;
  readonly #context: LoadLoopContext;
  readonly #observer: LoadObserver;
  readonly #loops = new Map<WorkerInstance, LoadLoop>();
  readonly #unsubscribe: () => void;
  #verdicts = new Map<WorkerInstance, boolean>();
  #batch: NodeJS.Timeout | undefined;

  constructor(registry: Registry, options: LoadMonitorOptions) {
    this.#registry = registry;
    this.#options = options;
    this.#observer = options.observer ?? SILENT_LOAD_OBSERVER;
    this.#context = {
      ask: options.ask ?? askWorker,
      gate: new ConcurrencyGate(MAX_POLLS),
      observer: this.#observer,
      judge: (instance, overloaded) => this.#judge(instance, overloaded),
      staleIntervals: options.staleIntervals,
      clock: options.clock ?? (() => performance.now()),
      random: options.random ?? Math.random,
    };
    this.#unsubscribe = registry.subscribe(() => this.reconsider());
    this.reconsider();
  }

  /** Starts and ends loops so that each worker that has to be asked has one. To be called when `needed` may have changed. */
  reconsider(): void {
    const needed = this.#options.needed();
    const intervals = intervalsOf(this.#registry.instances);
    const asked = new Set<WorkerInstance>();
    for (const instance of this.#registry.instances) {
      const rule = ruleFor(this.#options.overload, instance.spec.overload);
      if (!isInUse(instance) || !(needed || isProtected(rule))) continue;
      asked.add(instance);
      const declaredMs = intervals.size === 0 ? undefined : intervals.get(groupOf(instance));
      const intervalMs = declaredMs ?? this.#options.intervalMs;
      const loop = this.#loops.get(instance);
      if (loop?.spec === instance.spec) {
        loop.every(intervalMs);
        continue;
      }
      loop?.close();
      this.#loops.set(instance, new LoadLoop(this.#context, instance, intervalMs, rule));
    }
    for (const [instance, loop] of this.#loops) {
      if (asked.has(instance)) continue;
      loop.close();
      this.#loops.delete(instance);
      instance.engine.expired();
      this.#judge(instance, false);
    }
  }

  close(): void {
    this.#unsubscribe();
    clearTimeout(this.#batch);
    for (const loop of this.#loops.values()) loop.close();
    this.#loops.clear();
  }

  #judge(instance: WorkerInstance, overloaded: boolean): void {
    if (instance.overloaded === overloaded) {
      this.#verdicts.delete(instance);
      return;
    }
    this.#verdicts.set(instance, overloaded);
    this.#batch ??= setTimeout(() => this.#tell(), BATCH_MS);
  }

  #tell(): void {
    const verdicts = this.#verdicts;
    this.#verdicts = new Map();
    this.#batch = undefined;
    this.#registry.overloadJudged(verdicts);
    for (const [instance, overloaded] of verdicts) {
      if (instance.overloaded === overloaded) this.#observer.overloaded(instance.worker, overloaded);
    }
  }
}

/** Ready, and not on its way out for good: one that drains softly still serves the keys pinned to it. */
function isInUse({ health, drain }: WorkerInstance): boolean {
  return health.status === 'ready' && drain?.kind !== 'removal';
}

/** Workers of one group are asked at one interval: the shortest that any of them declares (policies 3.1). */
function intervalsOf(instances: Iterable<WorkerInstance>): ReadonlyMap<string, number> {
  const declared = new Map<string, number>();
  for (const instance of instances) {
    const { loadIntervalSecs } = instance.spec;
    if (loadIntervalSecs === null) continue;
    const group = groupOf(instance);
    declared.set(group, Math.min(loadIntervalSecs * 1000, declared.get(group) ?? Number.POSITIVE_INFINITY));
  }
  return declared;
}

function groupOf({ worker }: WorkerInstance): string {
  return `${worker.type} ${worker.models[0] ?? ''}`;
}
