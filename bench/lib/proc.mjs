/** Processor time and memory of a process, from /proc (Linux). */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/** Milliseconds of processor time so far, user and system, all threads. */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name in parentheses and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** Microseconds on a processor so far, all living threads, as fine as the scheduler counts. */
export function cpuMicros(pid) {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000;
    } catch {
      // The thread ended since the folder was read.
    }
  }
  return total;
}

/**
 * Keeps a process, all of its threads, on one core; false where that cannot be done or there is no choice.
 *
 * @param core from 0
 */
export function keepOn(pid, core) {
  if (availableParallelism() < 2) return false;
  return spawnSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' }).status === 0;
}

/** MiB now: resident, the process's share of it, and the most that was ever resident. */
export function memory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return {
    rssMiB: mebibytes(status, 'VmRSS'),
    pssMiB: mebibytes(rollup, 'Pss'),
    peakMiB: mebibytes(status, 'VmHWM'),
  };
}

function mebibytes(text, name) {
  const kib = Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN);
  return Math.round(kib / 102.4) / 10;
}
