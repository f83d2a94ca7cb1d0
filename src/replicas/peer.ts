import type { RemoteShare } from '../workers/remote-share.ts';
import type { LoadMessage } from './load-messages.ts';
import { LoadState, type WorkerCounts } from './load-state.ts';

/** Another replica, as it is known by its messages. */
export class Peer {
  /** When it was last heard. */
  heardAt: number;
  /** When it was last asked for its state; -Infinity for never. */
  askedAt = Number.NEGATIVE_INFINITY;
  /** Access-log streams that are open there. */
  logStreams = 0;
  /** True while something of it was missed. */
  behind = false;
  readonly #state: LoadState;
  /** Of the last changes it is known to have told; 0 before the first. */
  #seq = 0;
  /** Parts of a state that is not whole yet. */
  #parts: WorkerCounts[] = [];
  #nextPart = 0;

  constructor(shareOf: (worker: string) => RemoteShare, now: number) {
    this.#state = new LoadState(shareOf);
    this.heardAt = now;
  }

  /** They are right for the workers and keys that they name, whatever came before. False when something before was missed. */
  changes({ seq, workers }: LoadMessage & { kind: 'changes' }): boolean {
    const follows = seq === this.#seq + 1;
    // An older one is about a past that is over, or of another process by the same name.
    if (seq <= this.#seq) return false;
    this.#seq = seq;
    for (const counts of workers) this.#state.apply(counts);
    return follows;
  }

  /** False when what is known of it is not what it has. */
  beat({ seq, logStreams, totals }: LoadMessage & { kind: 'beat' }): boolean {
    this.logStreams = logStreams;
    return seq === this.#seq && this.#state.matches(totals);
  }

  /** Answers with true when the state is whole, and known now. */
  state({ seq, part, parts, workers }: LoadMessage & { kind: 'state' }): boolean {
    if (part === 0) {
      this.#parts = [];
      this.#nextPart = 0;
    }
    if (part !== this.#nextPart) return false;
    this.#nextPart += 1;
    for (const counts of workers) this.#parts.push(counts);
    if (this.#nextPart < parts) return false;
    this.#state.clear();
    for (const counts of this.#parts) this.#state.apply(counts);
    this.#parts = [];
    this.#seq = seq;
    return true;
  }

  /** It counts no more. */
  forget(): void {
    this.#state.clear();
  }
}
