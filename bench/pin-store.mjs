/**
 * Shared pins in Redis, without the service around them: `node bench/pin-store.mjs [memory] [calls] [changes] [--out FILE]`.
 *
 * On a `redis-server` of its own from PATH, on loopback. `memory`: bytes of a pin in Redis. `calls`: latency and throughput of
 * one connection by the way commands are written to it. `changes`: what it costs replicas to hear of changes, by pub/sub
 * from the script and by client-side caching (ADR 0022). The numbers below are options, too.
 */
import { ensureBuild, say } from '../scripts/setup.mjs';
import { begin, finish } from './lib/report.mjs';
import { startRedis } from './pin-store/server.mjs';

const PARTS = { memory: './pin-store/memory.mjs', calls: './pin-store/calls.mjs', changes: './pin-store/changes.mjs' };

const { settings, positionals, report, out } = begin('pin-store', {
  pins: 100_000,
  /** Calls of each case, and how many at once beside one at a time. */
  calls: 20_000,
  abreast: 64,
  replicas: 3,
  /** Changes a second, and for how long. */
  rate: 1000,
  seconds: 5,
});
for (const name of positionals)
  if (!(name in PARTS)) throw new Error(`no part ${name}; parts are ${Object.keys(PARTS).join(', ')}`);
ensureBuild();
const redis = await startRedis();
report.versions.redis = redis.version;
try {
  for (const [name, file] of Object.entries(PARTS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const { measure } = await import(file);
    const rows = await measure(redis, settings);
    report[name] = rows;
    say(`${name}: ${Object.keys(rows[0]).join(', ')}`);
    for (const row of rows) say(`  ${Object.values(row).join('\t')}`);
  }
} finally {
  redis.stop();
}
finish(report, out);
