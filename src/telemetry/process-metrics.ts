import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * CPU, memory, event-loop lag, garbage collection and handles of this process, under prom-client's usual names
 * (`process_*`, `nodejs_*`). Measuring starts with the first call of `startProcessMetrics` and lasts as long as the
 * process.
 */
export interface ProcessMetrics {
  /** Exposition text, ending in a line break. */
  text(): Promise<string>;
}

let started: ProcessMetrics | null = null;

/** Observers of the runtime exist once per process, however many services run in it. */
export function startProcessMetrics(): ProcessMetrics {
  if (started === null) {
    const register = new Registry();
    collectDefaultMetrics({ register });
    started = { text: () => register.metrics() };
  }
  return started;
}
