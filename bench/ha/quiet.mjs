import { availableParallelism, cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../scripts/setup.mjs';

const LOOK_MS = 2000;
/** Share of all cores that has nothing to do on a quiet machine. */
export const QUIET = 0.85;

/** Waits until nothing else runs, or patience ends; answers with the share of the cores that was idle at last. */
export async function quietMachine(patienceSecs) {
  const end = performance.now() + patienceSecs * 1000;
  for (let told = false; ; told = true) {
    const idle = await idleShare();
    if (idle >= QUIET || performance.now() > end) return idle;
    if (!told) say(`the machine is busy (idle: ${Math.round(idle * 100)} %): waiting …`);
  }
}

/** Share of the cores that is idle now, over some seconds. */
export async function idleShare() {
  const before = idleMs();
  await pause(LOOK_MS);
  return Number(Math.min(1, (idleMs() - before) / (LOOK_MS * availableParallelism())).toFixed(2));
}

function idleMs() {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}
