import { type AskWorker, askWorker } from './ask-worker.ts';
import { ConcurrencyGate } from './concurrency-gate.ts';
import { DEFAULT_HEALTH, type HealthSettings } from './health-settings.ts';
import { NameResolver, type NameResolverOptions } from './name-resolver.ts';
import { type ProbeContext, ProbeLoop } from './probe-loop.ts';
import type { Registry } from './registry.ts';
import type { WorkerInstance } from './worker-instance.ts';

export interface HealthCheckerOptions {
  readonly health?: HealthSettings;
  /** `--worker-startup-check-interval`, in milliseconds. */
  readonly startupIntervalMs?: number;
  readonly ask?: AskWorker;
  readonly dns?: NameResolverOptions;
  readonly random?: () => number;
}

/** Probes at once over all workers (policies 2.1). */
const MAX_PROBES = 128;

/**
 * Keeps a probe loop for every worker of a registry: resolves its name, asks for its models, checks its health, and
 * tells the registry what it found.
 */
export class HealthChecker {
  readonly #registry: Registry;
  readonly #context: ProbeContext;
  readonly #loops = new Map<WorkerInstance, ProbeLoop>();
  readonly #unsubscribe: () => void;

  constructor(registry: Registry, options: HealthCheckerOptions = {}) {
    this.#registry = registry;
    this.#context = {
      ask: options.ask ?? askWorker,
      registry,
      resolver: new NameResolver(options.dns),
      gate: new ConcurrencyGate(MAX_PROBES),
      health: options.health ?? DEFAULT_HEALTH,
      startupIntervalMs: options.startupIntervalMs ?? 1_000,
      random: options.random ?? Math.random,
    };
    this.#unsubscribe = registry.subscribe(() => this.#follow());
    this.#follow();
  }

  close(): void {
    this.#unsubscribe();
    for (const loop of this.#loops.values()) loop.close();
    this.#loops.clear();
    this.#context.resolver.close();
  }

  /** Starts and ends loops so that each instance has one, made for its present declaration. */
  #follow(): void {
    const registered = new Set(this.#registry.instances);
    for (const [instance, loop] of this.#loops) {
      if (registered.has(instance) && loop.spec === instance.spec) continue;
      loop.close();
      this.#loops.delete(instance);
    }
    for (const instance of registered) {
      if (!this.#loops.has(instance)) this.#loops.set(instance, new ProbeLoop(this.#context, instance));
    }
  }
}
