/** A service that nobody asks: time until its ready line, and memory a while after. */
import { setTimeout as pause } from 'node:timers/promises';
import { memory } from '../lib/proc.mjs';
import { startService } from '../lib/service.mjs';
import { median, rounded } from '../lib/stats.mjs';

const IDLE_MS = 2000;

export async function measureProcess({ starts }) {
  const seen = [];
  for (let i = 0; i < starts; i++) {
    const service = await startService([]);
    await pause(IDLE_MS);
    seen.push({ readyMs: service.readyMs, ...memory(service.pid) });
    await service.stop();
  }
  const middle = (name) => rounded(median(seen.map((each) => each[name])));
  return { starts, readyMs: middle('readyMs'), rssMiB: middle('rssMiB'), pssMiB: middle('pssMiB') };
}
