/**
 * A thread that wakes its parent at the times of a schedule. Timers of Node fire up to a millisecond late, which is more than
 * what is measured here; a thread that waits on memory is some hundredths late and takes no processor time while it waits.
 */
import { parentPort, workerData } from 'node:worker_threads';

const { startAt, intervalMs, count } = workerData;
const never = new Int32Array(new SharedArrayBuffer(4));

for (let i = 0; i < count; i++) {
  const left = startAt + i * intervalMs - (performance.timeOrigin + performance.now());
  if (left > 0) Atomics.wait(never, 0, 0, left);
  parentPort.postMessage(i);
}
