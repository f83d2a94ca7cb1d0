/** What a simulated worker has seen since it was started; numbers and one request only, so it never grows. */
export interface Counters {
  /** Requests to the endpoints that count as work, WebSocket upgrades included. */
  readonly requests: number;
  /** Of these, asked for server-sent events. */
  readonly streams: number;
  /** Answers that were sent to their end, of any status. */
  readonly completed: number;
  /** Requests whose connection ended before the answer did. */
  readonly aborted: number;
  /** Failures injected on purpose, of any kind. */
  readonly injected: number;
  /** Now being worked on. */
  readonly running: number;
  /** Health checks and model questions. */
  readonly probes: number;
  /** Tokens sent. */
  readonly tokens: number;
  /** The latest request that counted as work. */
  readonly last: LastRequest | null;
}

/** A request as it arrived. */
export interface LastRequest {
  readonly method: string;
  readonly path: string;
  /** Header names and values in order of arrival: name, value, name, value. */
  readonly rawHeaders: readonly string[];
  readonly bytes: number;
  readonly sha256: string;
}

/** {@link Counters} while they are being counted. */
export type Tally = { -readonly [K in keyof Counters]: Counters[K] };

export function newTally(): Tally {
  return {
    requests: 0,
    streams: 0,
    completed: 0,
    aborted: 0,
    injected: 0,
    running: 0,
    probes: 0,
    tokens: 0,
    last: null,
  };
}
