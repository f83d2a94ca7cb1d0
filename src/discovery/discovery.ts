import { Listeners } from '../util/listeners.ts';
import type { LookUp } from '../workers/name-resolver.ts';
import type { WorkerSpec } from '../workers/worker-spec.ts';
import { DnsSource } from './dns/dns-source.ts';
import { WorkersFileSource } from './file/workers-file-source.ts';
import type { PodRules } from './kubernetes/pod-workers.ts';
import type { DiscoveryObserver, RunningSource, WorkerSink } from './source.ts';

export interface DiscoveryOptions {
  readonly sink: WorkerSink;
  readonly observer: DiscoveryObserver;
  /** Pods to follow; null without `--service-discovery`. */
  readonly kubernetes: { readonly rules: PodRules; readonly namespace: string | null } | null;
  /** `--workers-file` */
  readonly workersFile: string | null;
  /** What is wrong with a worker of the workers file that is well declared, null when nothing is. */
  readonly refuse: (spec: WorkerSpec) => string | null;
  readonly lookUp?: LookUp;
}

/** How often sources repeat what they say: a worker that was forgotten as unhealthy, or removed by hand, comes back. */
const RECONCILE_MS = 60_000;

/** All sources that are read while the service runs. */
export class Discovery {
  /** Follows names from the start, whoever declares them. */
  readonly dns: DnsSource;
  readonly #options: DiscoveryOptions;
  readonly #observer: DiscoveryObserver;
  readonly #others: RunningSource[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #listeners = new Listeners<[]>();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    const { sink, lookUp } = options;
    this.#observer = this.#watched(options.observer);
    this.dns = new DnsSource({ sink, observer: this.#observer, ...(lookUp === undefined ? {} : { lookUp }) });
    this.#timer = setInterval(() => {
      for (const source of this.sources) source.reconcile();
    }, RECONCILE_MS);
    this.#timer.unref();
  }

  /** Begins with the others: what was declared before has precedence. What speaks to Kubernetes is loaded only if needed. */
  async begin(): Promise<void> {
    const { sink, kubernetes, workersFile, refuse } = this.#options;
    const observer = this.#observer;
    if (workersFile !== null) {
      const pools = (named: Parameters<DnsSource['replace']>[1]): void => {
        for (const id of this.dns.replace('workers_file', named))
          observer.noted('workers_file', id, 'is declared twice');
      };
      this.#others.push(new WorkersFileSource({ path: workersFile, sink, observer, refuse, pools }));
    }
    if (kubernetes !== null) {
      const { rules, namespace } = kubernetes;
      const { KubernetesSource, podApiOf } = await import('./kubernetes/kubernetes-source.ts');
      this.#others.push(new KubernetesSource({ rules, sink, observer, api: podApiOf(rules, namespace) }));
    }
  }

  /** Those in use. */
  get sources(): readonly RunningSource[] {
    return this.dns.used ? [...this.#others, this.dns] : this.#others;
  }

  /** Each was read at least once. */
  get isRead(): boolean {
    return this.sources.every(({ health }) => health !== 'unread');
  }

  /** Calls `listener` when the health of a source has changed. Answers with the undo. */
  onTurn(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const source of [...this.#others, this.dns]) source.close();
    this.#listeners.clear();
  }

  #watched(observer: DiscoveryObserver): DiscoveryObserver {
    return {
      event: (source, event) => observer.event(source, event),
      applied: (source, changes, found, durationMs) => observer.applied(source, changes, found, durationMs),
      failed: (source, problem) => observer.failed(source, problem),
      noted: (source, subject, reason) => observer.noted(source, subject, reason),
      turned: (source, health, problem) => {
        observer.turned(source, health, problem);
        this.#listeners.tell();
      },
    };
  }
}
