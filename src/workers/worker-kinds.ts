/** State of a worker (policies 2.1); JSON shows these names as they are. */
export type WorkerStatus = 'pending' | 'ready' | 'not_ready' | 'failed' | 'draining';

export type WorkerType = 'regular' | 'prefill' | 'decode';

/** Where a worker was announced. A source only removes workers that it brought itself. */
export type WorkerSource = 'flags' | 'file' | 'api' | 'workers_file' | 'dns' | 'kubernetes';

/** State of a worker's circuit breaker (policies 2.3). */
export type BreakerState = 'closed' | 'open' | 'half_open';
