import type { Worker } from '../workers/worker.ts';
import type { PrefillSource } from './transfer-params.ts';

/**
 * How an engine wants its two legs: `sequential`, the decode after the prefill, as vLLM; `parallel`, both at once, as SGLang
 * (policies 4.3, 4.4).
 */
export type DispatchOrder = 'sequential' | 'parallel';

/** What dispatch has to know of a worker that gets a prefill, or follows one. */
export interface PrefillWorker extends PrefillSource {
  /** `http://ip:port` to connect to; empty while its name does not resolve. */
  readonly origin: string;
  readonly authority: string;
  /** Sent as a bearer token in the place of the client's; null for none. */
  readonly apiKey: string | null;
  readonly order: DispatchOrder;
  /** Name of its KV connector, in any case; null when it is not known. */
  readonly connector: string | null;
}

/** Finds it; undefined for a worker that has left. */
export type FindPrefillWorker = (worker: Worker) => PrefillWorker | undefined;
