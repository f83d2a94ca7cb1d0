import { type FSWatcher, realpathSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../util/app-error.ts';
import { QuietTime } from './quiet-time.ts';

export interface FileWatchOptions {
  readonly path: string;
  /** The file may have changed. Called once soon after the start, too: it may have changed since it was read. */
  readonly changed: () => void;
  /** A folder cannot be watched: changes may go unseen. */
  readonly lost: (problem: string) => void;
  /** How long a file must have been left alone before it is read, in milliseconds. */
  readonly settleMs?: number;
}

/** A writer in place needs several writes; read between them, a file may be good and yet lack half of its workers. */
const SETTLE_MS = 300;
const LONGEST_SETTLE_MS = 2000;

/**
 * Tells when a file may have changed. It watches folders, not the file, so that a file put in its place by rename and the
 * swapped symlinks of a Kubernetes ConfigMap are seen as well as a write.
 */
export class FileWatch {
  readonly #options: FileWatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #settling: QuietTime;

  constructor(options: FileWatchOptions) {
    this.#options = options;
    this.#settling = new QuietTime({
      quietMs: options.settleMs ?? SETTLE_MS,
      longestMs: LONGEST_SETTLE_MS,
      run: () => {
        this.#watchFolders();
        options.changed();
      },
    });
    this.#watchFolders();
    this.#settling.touch();
  }

  close(): void {
    this.#settling.close();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Watches the folder of the path, and that of the file it leads to. */
  #watchFolders(): void {
    const { path } = this.#options;
    const wanted = new Set([dirname(path)]);
    try {
      wanted.add(dirname(realpathSync(path)));
    } catch {
      // The file is away for now; its folder tells when it is back.
    }
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#watchFolder(folder);
  }

  #watchFolder(folder: string): void {
    const lost = (error: unknown): void => {
      this.#watchers.get(folder)?.close();
      this.#watchers.delete(folder);
      this.#options.lost(`${folder}: cannot be watched for changes: ${messageOf(error)}`);
    };
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#settling.touch());
      watcher.on('error', lost);
      this.#watchers.set(folder, watcher);
    } catch (error) {
      lost(error);
    }
  }
}
