/** Pins that are moved by hand at any replica: how soon all replicas go by it, and that none goes back. */
import { setTimeout as pause } from 'node:timers/promises';
import { quantile, rounded } from '../lib/stats.mjs';
import { PinWatch } from './pin-watch.mjs';
import { onStand } from './stand.mjs';

/** Few enough to be looked at often, many enough for a second to pass before the next move of each. */
const KEYS = 40;
const CONVERGED_P99_MS = 100;
const SECOND = 1000;

export function moves(kit, { workers, replicas: count, ...settings }) {
  return onStand(
    kit,
    { replicas: count, workers, claimMs: settings['claim-timeout-ms'] },
    'redis',
    async (replicas) => {
      const { url, services, sim } = replicas;
      const turn = (key, number) => kit.converse({ url, key, kind: 'known', turn: number, place: 'header' });
      const keys = Array.from({ length: KEYS }, (_, i) => `moved-${i}`);
      const homes = new Map();
      for (const key of keys) {
        // Each replica holds a key once it has placed a turn of it.
        for (let number = 1; number <= 4 * count; number++) homes.set(key, (await turn(key, number)).worker);
      }
      const watches = services.map((service) => new PinWatch(service));
      await kit.until(() => watches.every(({ held }) => held >= KEYS), 'every replica holds every key');

      const took = [];
      const problems = [];
      const open = [];
      const startedAt = performance.now();
      for (let i = 0; i < settings.moves; i++) {
        await pause(Math.max(0, startedAt + (i * SECOND) / settings['moves-a-second'] - performance.now()));
        open.push(move(i));
      }
      await Promise.all(open);
      await pause(SECOND);
      for (const watch of watches) problems.push(...(await watch.stop()));
      const sorted = took.sort((a, b) => a - b);
      const p99Ms = rounded(quantile(sorted, 0.99));
      if (took.length < settings.moves)
        problems.push(`${settings.moves - took.length} moves did not reach every replica`);
      if (p99Ms > CONVERGED_P99_MS) problems.push(`moves reach every replica after ${p99Ms} ms at p99`);
      const looks = watches.reduce((sum, watch) => sum + watch.looks, 0);
      return {
        moves: took.length,
        p50Ms: rounded(quantile(sorted, 0.5)),
        p99Ms,
        maxMs: rounded(quantile(sorted, 1)),
        looks,
        problems,
      };

      async function move(i) {
        const key = keys[i % KEYS];
        const from = sim.workers.findIndex(({ name }) => name === homes.get(key));
        const to = sim.workers[(from + 1 + (i % (workers - 1))) % workers];
        homes.set(key, to.name);
        const askedAt = performance.now();
        const at = services[i % count];
        const answer = await at.admin(`/pins/${key}?model=sim-model`, { method: 'PUT', body: { worker_id: to.url } });
        if (answer.status !== 200) {
          problems.push(`${key}: ${answer.status} ${answer.text}`);
          return;
        }
        const { version } = answer.json.local;
        const seenAt = await Promise.all(watches.map((watch) => watch.reached(key, version)));
        took.push(Math.max(...seenAt) - askedAt);
        for (let number = 0; number < count; number++) {
          const { worker, error } = await turn(key, 100 + number);
          if (worker !== to.name) problems.push(`${key}: at ${worker} after its move to ${to.name} ${error ?? ''}`);
        }
      }
    },
  );
}
