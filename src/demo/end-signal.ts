/** Milliseconds between two looks at our parent. */
const LOOK_MS = 500;

/** Resolves with the reason when this process is asked to end: by a signal, or because its parent is gone. */
export function endSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve('parent gone');
    }, LOOK_MS);
    timer.unref();
  });
}
