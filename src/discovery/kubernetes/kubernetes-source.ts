import { setTimeout as after } from 'node:timers/promises';
import type { DiscoveryObserver, RunningSource, SourceHealth, WorkerSink } from '../source.ts';
import { SourceState } from '../source-state.ts';
import { findCluster } from './find-cluster.ts';
import { KubePodApi } from './kube-pod-api.ts';
import type { Pod } from './pod.ts';
import type { PodApi } from './pod-api.ts';
import { PodWatch } from './pod-watch.ts';
import { type PodRules, workersOfPods } from './pod-workers.ts';
import { commonLabels } from './selector.ts';

export interface KubernetesSourceOptions {
  readonly rules: PodRules;
  readonly sink: WorkerSink;
  readonly observer: DiscoveryObserver;
  readonly api: PodApi;
}

/** A burst of events, as a rollout makes, is one change of the fleet. */
const GATHER_MS = 25;
/** One broken connection is no outage; the second try in a row that fails is. */
const STALE_TRIES = 2;

/** Workers from the pods of a Kubernetes cluster. */
export class KubernetesSource implements RunningSource {
  readonly name = 'kubernetes';
  readonly #state: SourceState;
  readonly #rules: PodRules;
  readonly #watch: PodWatch;
  #pods: ReadonlyMap<string, Pod> = new Map();
  #timer: NodeJS.Timeout | undefined;

  constructor({ rules, sink, observer, api }: KubernetesSourceOptions) {
    this.#rules = rules;
    this.#state = new SourceState('kubernetes', sink, observer);
    this.#watch = new PodWatch({
      api,
      pause,
      listener: {
        pods: (pods) => this.#take(pods),
        seen: (event) => observer.event('kubernetes', event),
        live: () => {
          if (this.#state.health !== 'unread') this.#state.live();
        },
        failed: (problem, tries) => {
          observer.failed('kubernetes', problem);
          if (tries >= STALE_TRIES || this.#state.health === 'unread') this.#state.stale(problem);
        },
      },
    });
  }

  get health(): SourceHealth {
    return this.#state.health;
  }

  get problem(): string | null {
    return this.#state.problem;
  }

  reconcile(): void {
    this.#state.repeat();
  }

  close(): void {
    this.#watch.close();
    clearTimeout(this.#timer);
  }

  #take(pods: ReadonlyMap<string, Pod>): void {
    this.#pods = pods;
    if (this.#state.health === 'unread') {
      this.#say();
      this.#state.live();
    } else {
      this.#timer ??= setTimeout(() => this.#say(), GATHER_MS);
    }
  }

  #say(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { workers, notes } = workersOfPods(this.#pods.values(), this.#rules);
    this.#state.say(workers, notes);
  }
}

/** The pods of the cluster that the environment names. */
export function podApiOf(rules: PodRules, namespace: string | null): PodApi {
  const labelSelector = commonLabels(rules.roles.map(({ selector }) => selector));
  return new KubePodApi({ cluster: findCluster, namespace, labelSelector });
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await after(ms, undefined, { signal });
  } catch {
    // Ended early, as it may.
  }
}
