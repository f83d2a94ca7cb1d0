import type { Worker } from '../worker.ts';
import type { PollOutcome } from './poll-load.ts';

/** Is told how workers are asked for their load, for counting and logging. None of these may throw. */
export interface LoadObserver {
  polled(worker: Worker, result: PollOutcome['kind'], durationMs: number): void;
  /** The worker began to report, or stopped; told once for each change, with what the last poll came to. */
  reporting(worker: Worker, reports: boolean, reason: string): void;
  overloaded(worker: Worker, overloaded: boolean): void;
}

export const SILENT_LOAD_OBSERVER: LoadObserver = {
  polled: () => {},
  reporting: () => {},
  overloaded: () => {},
};
