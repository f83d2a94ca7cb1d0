/** Runs things later. Injected where tests and simulations have a clock of their own. Each answers with a way to call it off. */
export interface Timers {
  after(ms: number, run: () => void): () => void;
  /** As `after`, but what has come in by then is read first: a deadline must not pass only because the process was busy. */
  afterReading(ms: number, run: () => void): () => void;
}

/** By the clock of the process. */
export const realTimers: Timers = {
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  afterReading: (ms, run) => {
    // Sockets are read between the timers of a turn and its immediates.
    let immediate: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      immediate = setImmediate(run);
    }, ms);
    return () => {
      clearTimeout(timer);
      clearImmediate(immediate);
    };
  },
};
