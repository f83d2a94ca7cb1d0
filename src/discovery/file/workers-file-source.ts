import { readConfigText } from '../../config/config-text.ts';
import { FileWatch } from '../../config/file-watch.ts';
import { messageOf } from '../../util/app-error.ts';
import { declared } from '../../workers/sourced-worker.ts';
import type { WorkerSpec } from '../../workers/worker-spec.ts';
import type { NamePool } from '../dns/name-pool.ts';
import type { DiscoveryObserver, RunningSource, SourceHealth, WorkerSink } from '../source.ts';
import { SourceState } from '../source-state.ts';
import { readWorkersFile } from './workers-file.ts';

export interface WorkersFileSourceOptions {
  readonly path: string;
  readonly sink: WorkerSink;
  readonly observer: DiscoveryObserver;
  /** Takes the names that the file declares. */
  readonly pools: (pools: readonly NamePool[]) => void;
  /** What is wrong with a worker that is well declared, null when nothing is. */
  readonly refuse: (spec: WorkerSpec) => string | null;
  readonly settleMs?: number;
}

/** Workers from a file that is read again when it changes. A file that cannot be used changes nothing. */
export class WorkersFileSource implements RunningSource {
  readonly name = 'workers_file';
  readonly #options: WorkersFileSourceOptions;
  readonly #state: SourceState;
  readonly #watch: FileWatch;
  #text: string | undefined;

  /** Reads the file at once: `health` says whether it could be used, `problem` why not. */
  constructor(options: WorkersFileSourceOptions) {
    this.#options = options;
    this.#state = new SourceState('workers_file', options.sink, options.observer);
    this.#read();
    this.#watch = new FileWatch({
      path: options.path,
      changed: () => this.#read(),
      lost: (problem) => options.observer.failed('workers_file', problem),
      ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
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
  }

  #read(): void {
    const { path, refuse, pools } = this.#options;
    let text: string;
    try {
      text = readConfigText(path);
    } catch (error) {
      // Away between two versions, perhaps: said once, and read when it is back.
      if (this.#text === undefined && this.#state.problem !== null) return;
      this.#text = undefined;
      this.#fail([`${path}: cannot be read: ${messageOf(error)}`]);
      return;
    }
    if (text === this.#text) return;
    this.#text = text;
    const result = readWorkersFile(text, path, refuse);
    if (!result.ok) {
      this.#fail(result.problems);
      return;
    }
    pools(result.declared.pools);
    this.#state.say(result.declared.specs.map(declared));
    this.#state.live();
  }

  #fail(problems: readonly string[]): void {
    this.#options.observer.failed('workers_file', problems.join('\n'));
    this.#state.stale(problems.join('\n'));
  }
}
