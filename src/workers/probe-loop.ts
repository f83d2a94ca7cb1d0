import { canonicalAddress, splitAddress } from './address.ts';
import type { AskWorker } from './ask-worker.ts';
import type { ConcurrencyGate } from './concurrency-gate.ts';
import { askDpSize, SERVER_INFO_MAX_BYTES, SERVER_INFO_TIMEOUT_MS } from './dp-size.ts';
import { askEngine } from './engine-probe.ts';
import { effectiveHealth, type HealthSettings } from './health-settings.ts';
import { type HttpResult, isOk } from './http-request.ts';
import { MODELS_MAX_BYTES, MODELS_PATH, MODELS_TIMEOUT_MS, readModels } from './model-probe.ts';
import { chooseAddress, type NameResolver, nextAddress } from './name-resolver.ts';
import type { Registry } from './registry.ts';
import type { HealthStatus } from './status-machine.ts';
import type { WorkerInstance } from './worker-instance.ts';
import type { WorkerSpec } from './worker-spec.ts';

/** What the loops of all workers share. */
export interface ProbeContext {
  readonly ask: AskWorker;
  readonly registry: Registry;
  readonly resolver: NameResolver;
  readonly gate: ConcurrencyGate;
  readonly health: HealthSettings;
  /** Longest time between start-up probes (`--worker-startup-check-interval`), in milliseconds. */
  readonly startupIntervalMs: number;
  readonly random: () => number;
}

const FIRST_DELAY_MS = 100;
const HEALTH_MAX_BYTES = 65_536;
/** Probes come up to this share early, so that the fleet is not probed in one burst. */
const JITTER = 0.1;

/** Probes one worker instance until it is closed or the instance needs no more probes. */
export class ProbeLoop {
  /** The declaration it works by; another one needs another loop. */
  readonly spec: WorkerSpec;
  readonly #context: ProbeContext;
  readonly #instance: WorkerInstance;
  readonly #health: HealthSettings;
  readonly #abort = new AbortController();
  readonly #unfollow: () => void;
  #timer: NodeJS.Timeout | undefined;
  #startupDelayMs = FIRST_DELAY_MS;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(context: ProbeContext, instance: WorkerInstance) {
    this.#context = context;
    this.#instance = instance;
    this.spec = instance.spec;
    this.#health = effectiveHealth(context.health, instance.spec.health);
    this.#unfollow = this.#followName();
    this.#next(0);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.#unfollow();
  }

  get #closed(): boolean {
    return this.#abort.signal.aborted;
  }

  #followName(): () => void {
    const { host, port, address } = this.spec.url;
    if (address !== '') return () => {};
    return this.#context.resolver.follow(host, (addresses) => {
      const current = splitAddress(this.#instance.address)?.ip ?? '';
      this.#context.registry.resolved(this.#instance, canonicalAddress(chooseAddress(addresses, current), port));
    });
  }

  #next(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#turn(), delayMs);
  }

  async #turn(): Promise<void> {
    const delayMs = await this.#context.gate.run(() => (this.#health.enabled ? this.#probe() : this.#admit()));
    if (delayMs !== null && !this.#closed) this.#next(delayMs);
  }

  /** Health checks off: asks for ranks and models, then the worker is ready for good. */
  async #admit(): Promise<number | null> {
    const at = Date.now();
    const started = performance.now();
    const problem = this.#instance.awaitsRanks ? await this.#askRanks() : null;
    if (this.#closed) return null;
    if (problem !== null) {
      const report = { at, ok: false, detail: problem, durationMs: performance.now() - started };
      this.#context.registry.probed(this.#instance, report, this.#health, false);
      return this.#delayAfterProbe();
    }
    const deadline = performance.now() + MODELS_TIMEOUT_MS;
    while (!this.#closed && this.#needsModels(false)) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) {
        this.#context.registry.modelsAnswered(this.#instance, []);
        break;
      }
      if (!(await this.#askModels(leftMs))) await pause(Math.min(FIRST_DELAY_MS, leftMs), this.#abort.signal);
    }
    if (this.#instance.awaitsEngineKind) await this.#askEngine();
    if (!this.#closed) this.#context.registry.assumeReady(this.#instance);
    return null;
  }

  /** One health probe; answers with the delay to the next one, null when there is none to come. */
  async #probe(): Promise<number | null> {
    if (this.#closed) return null;
    const at = Date.now();
    const started = performance.now();
    const result = await this.#get(this.#health.endpoint, this.#health.timeoutSecs * 1_000, HEALTH_MAX_BYTES, true);
    let ok = result.kind === 'answer' && isOk(result.status);
    const durationMs = performance.now() - started;
    // A worker that comes back may be another engine: it is asked again.
    const returning = isOut(this.#instance.health.status);
    let detail = describe(result);
    const problem = ok && this.#needsRanks(returning) ? await this.#askRanks() : null;
    if (problem !== null) {
      ok = false;
      detail = problem;
    }
    if (ok && this.#needsModels(returning) && !(await this.#askModels(MODELS_TIMEOUT_MS))) {
      ok = false;
      detail = 'connection lost when asked for models';
    }
    if (ok && this.#needsEngine(returning) && !(await this.#askEngine())) {
      ok = false;
      detail = 'connection lost when asked which engine it is';
    }
    if (this.#closed) return null;

    const counted = this.#counts(started);
    this.#context.registry.probed(this.#instance, { at, ok, detail, durationMs }, this.#health, counted);
    if (!ok) this.#tryElsewhere();
    return this.#delayAfterProbe();
  }

  #needsModels(returning: boolean): boolean {
    return !this.#instance.modelsKnown || (returning && this.#instance.asksModels);
  }

  #needsEngine(returning: boolean): boolean {
    return this.#instance.awaitsEngineKind || (returning && this.spec.workerType !== 'regular');
  }

  #needsRanks(returning: boolean): boolean {
    return this.#instance.awaitsRanks || (returning && this.#instance.asksRanks);
  }

  /**
   * Start-up probes follow each other fast, so that a worker is ready early. Only one an interval counts towards
   * `failed`: an engine may take minutes to load its model.
   */
  #counts(now: number): boolean {
    const intervalMs = this.#health.intervalSecs * 1_000 * (1 - JITTER);
    if (this.#instance.health.status === 'pending' && now - this.#countedAt < intervalMs) return false;
    this.#countedAt = now;
    return true;
  }

  #delayAfterProbe(): number {
    const { status } = this.#instance.health;
    const intervalMs = this.#health.intervalSecs * 1_000 * (1 - JITTER * this.#context.random());
    if (status !== 'pending') return intervalMs;
    const delayMs = Math.min(this.#startupDelayMs, this.#context.startupIntervalMs, intervalMs);
    this.#startupDelayMs *= 2;
    return delayMs;
  }

  /** Why the ranks of the engine are not known, null when they are. Where there are several, this loop is closed by then. */
  async #askRanks(): Promise<string | null> {
    const answer = await askDpSize((path) => this.#get(path, SERVER_INFO_TIMEOUT_MS, SERVER_INFO_MAX_BYTES));
    if (answer.kind === 'unknown') return answer.reason;
    if (!this.#closed)
      this.#context.registry.ranksAnswered(this.#instance, answer.kind === 'size' ? answer.size : null);
    return null;
  }

  /** False when the worker could not be asked. A list it gave before outlives an answer without one. */
  async #askModels(timeoutMs: number): Promise<boolean> {
    const answer = readModels(await this.#get(MODELS_PATH, timeoutMs, MODELS_MAX_BYTES));
    if (this.#closed || answer.kind === 'unreachable') return false;
    if (answer.kind === 'list') this.#context.registry.modelsAnswered(this.#instance, answer.models);
    else if (!this.#instance.modelsKnown) this.#context.registry.modelsAnswered(this.#instance, []);
    return true;
  }

  /** False when the worker could not be asked. */
  async #askEngine(): Promise<boolean> {
    const declared = this.spec.runtimeType?.toLowerCase() ?? null;
    const ask = (path: string) => this.#get(path, MODELS_TIMEOUT_MS, SERVER_INFO_MAX_BYTES);
    const kind = await askEngine(ask, declared);
    if (this.#closed || kind === null) return false;
    this.#context.registry.engineTold(this.#instance, kind);
    return true;
  }

  async #get(path: string, timeoutMs: number, maxBytes: number, health = false): Promise<HttpResult> {
    if (this.#instance.address === '') await this.#context.resolver.refresh(this.spec.url.host);
    const { signal } = this.#abort;
    return this.#context.ask(this.spec, this.#instance.address, { path, timeoutMs, maxBytes, signal, health });
  }

  /** A name with several addresses: a worker that is not ready at one is tried at the next. */
  #tryElsewhere(): void {
    const { host, port, address } = this.spec.url;
    if (address !== '') return;
    const { registry, resolver } = this.#context;
    const addresses = resolver.addresses(host);
    if (this.#instance.health.status !== 'ready' && addresses.length > 1) {
      const current = splitAddress(this.#instance.address)?.ip ?? '';
      registry.resolved(this.#instance, canonicalAddress(nextAddress(addresses, current), port));
    }
    void resolver.refresh(host);
  }
}

function describe(result: HttpResult): string {
  if (result.kind === 'answer') return `HTTP ${result.status}`;
  return result.kind === 'timeout' ? 'timeout' : result.reason;
}

function isOut(status: HealthStatus): boolean {
  return status === 'not_ready' || status === 'failed';
}

/** Waits, but not beyond an abort. */
function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener('abort', done);
  });
}
