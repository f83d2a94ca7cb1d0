import { availableParallelism, cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../scripts/setup.mjs';

const LOOK_MS = 2000;
/** Share of all cores that has nothing to do on a quiet machine. */
const QUIET = 0.85;

/** Waits until nothing else runs; answers with the share of the cores that was idle at last. */
export async function quietMachine(patienceSecs) {
  const end = performance.now() + patienceSecs * 1000;
  for (let told = false; ; told = true) {
    const before = idleMs();
    await pause(LOOK_MS);
    const idle = Math.min(1, (idleMs() - before) / (LOOK_MS * availableParallelism()));
    if (idle >= QUIET || performance.now() > end) return Number(idle.toFixed(2));
    if (!told) say(`the machine is busy (idle: ${Math.round(idle * 100)} %): waiting …`);
  }
}

function idleMs() {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}
