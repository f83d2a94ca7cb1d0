/** Processor time and memory of a process, from /proc (Linux). */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/** Milliseconds of processor time so far, user and system, all threads. */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name in parentheses and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
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
