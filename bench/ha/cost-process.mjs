/** The measurement of costs.mjs: `cost-process.mjs PART REDIS-URL REDIS-PID SETTINGS-AS-JSON`. */
import { setTimeout as pause } from 'node:timers/promises';
import { cpuMs } from '../lib/proc.mjs';
import { median, quantile, rounded } from '../lib/stats.mjs';
import { heldBytes } from '../micro/measure.mjs';
import { createWorld, FACTS, headersMessage, headOf } from '../micro/world.mjs';

const { tryLoadSettings } = await import('../../dist/config/load-settings.js');
const { openSharedState } = await import('../../dist/service/shared-state.js');
const { createLog } = await import('../../dist/telemetry/log.js');
const { createMetrics } = await import('../../dist/telemetry/metrics.js');

const KEYS = 1000;
const ROUNDS = 15;
const BATCHES = 40;
const ENV = { SMG_POLICY: 'round_robin', SMG_ROUTING_KEY_OVERRIDE: 'true', SMG_ROUTING_KEY_ORDER: 'header-first' };
const ABREAST = 256;
const SECONDS = 8;

const [part, url, pid, text] = process.argv.slice(2);
const settings = JSON.parse(text);

const PARTS = { known: knownKeys, fresh: newKeys, memory };
process.send(await PARTS[part](), () => process.exit());

async function open(prefix, claimTimeoutMs = 50) {
  const loaded = tryLoadSettings({
    flags: [],
    env: {
      ...ENV,
      SMG_PIN_STORE: url,
      SMG_PIN_STORE_PREFIX: prefix,
      SMG_PIN_CLAIM_TIMEOUT_MS: String(claimTimeoutMs),
    },
    readFile: () => '',
  });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const parts = {
    self: '0badcafe',
    metrics: createMetrics(),
    log: createLog({ level: 'error', json: true }),
    clock: () => performance.now(),
  };
  const state = await openSharedState(loaded.loaded.settings, parts);
  while (state.link.state !== 'up') await pause(10);
  return state;
}

/** The same decisions with both stores by turns, batch by batch: microseconds of one, and their ratio. */
async function knownKeys() {
  const state = await open('known');
  const worlds = [createWorld(3, ENV), createWorld(3, ENV, state.pins)];
  const heads = Array.from({ length: KEYS }, (_, i) =>
    headOf(headersMessage({ 'x-smg-routing-key': `known-${i}_t3` })),
  );
  for (const { picker, endAll } of worlds) {
    for (const head of heads) {
      picker.plan(head);
      await picker.pick(head, null, FACTS);
    }
    endAll();
  }
  const batch = ({ picker, pick, endAll }) => {
    const start = performance.now();
    for (const head of heads) {
      picker.plan(head);
      pick(head, null, FACTS);
    }
    const took = performance.now() - start;
    endAll();
    return (took * 1000) / KEYS;
  };
  for (let i = 0; i < BATCHES * 2; i++) for (const world of worlds) batch(world);
  const times = [[], []];
  const ratios = [];
  for (let round = 0; round < ROUNDS; round++) {
    const sums = [0, 0];
    for (let i = 0; i < BATCHES; i++) {
      // Who is first has the colder cache: by turns.
      for (const index of i % 2 === 0 ? [0, 1] : [1, 0]) sums[index] += batch(worlds[index]);
    }
    for (const index of [0, 1]) times[index].push(sums[index] / BATCHES);
    ratios.push(sums[1] / sums[0]);
  }
  await state.close();
  const [memoryMicros, redisMicros] = times.map((each) => rounded(median(each)));
  return { memoryMicros, redisMicros, ratio: rounded(median(ratios)) };
}

/** New keys at a steady rate: how long each waits for the store, and processor time of both sides. */
async function newKeys() {
  const state = await open('fresh');
  const rate = settings['claims-a-second'];
  const times = [];
  const begin = { own: process.cpuUsage(), redis: cpuMs(pid) };
  const startedAt = performance.now();
  const running = [];
  for (let sent = 0; sent < rate * SECONDS; ) {
    for (const due = ((performance.now() - startedAt) / 1000) * rate; sent < due; sent++) {
      const askedAt = performance.now();
      const pin = state.pins.put(keyOf(sent), candidatesOf(sent).slice(0, 1), 0, askedAt);
      running.push(Promise.resolve(pin).then(() => times.push(performance.now() - askedAt)));
    }
    await pause(1);
  }
  await Promise.all(running);
  const { user, system } = process.cpuUsage(begin.own);
  const redisCpu = cpuMs(pid) - begin.redis;
  await state.close();
  const sorted = times.slice(rate).sort((a, b) => a - b);
  const count = rate * SECONDS;
  return {
    perSecond: rate,
    p50Ms: rounded(quantile(sorted, 0.5)),
    p99Ms: rounded(quantile(sorted, 0.99)),
    maxMs: rounded(quantile(sorted, 1)),
    serviceCpuMicros: rounded((user + system) / count),
    redisCpuMicros: rounded((redisCpu * 1000) / count),
  };
}

/** Bytes of a pin beside its key in this process, and of everything in Redis, by how many workers it names. */
async function memory() {
  // As many at once as there are, and none decided without the store.
  const state = await open('smg-envoy', 10_000);
  const { pins } = settings;
  const rows = [];
  for (const workers of [1, 2]) {
    const keys = Array.from({ length: pins }, (_, i) => keyOf(workers * pins + i));
    for (const key of keys) key.charCodeAt(0);
    await state.link.run('flushall', []);
    const [ownBefore, redisBefore] = [heldBytes(), await redisBytes(state)];
    const heldBefore = state.pins.size;
    let next = 0;
    const lane = async () => {
      while (next < pins) {
        const i = next++;
        await state.pins.put(keys[i], candidatesOf(i).slice(0, workers), 0, performance.now());
      }
    };
    await Promise.all(Array.from({ length: ABREAST }, lane));
    if (state.pins.size - heldBefore !== pins || state.pins.provisional > 0) throw new Error('pins are missing');
    const redisBytesEach = ((await redisBytes(state)) - redisBefore) / pins;
    rows.push({
      workers,
      processBytes: Math.round((heldBytes() - ownBefore) / pins),
      redisBytes: Math.round(redisBytesEach),
    });
    if (keys.length !== pins) throw new Error('keys are gone');
  }
  await state.close();
  return { pins, keyBytes: keyOf(0).length, rows };
}

async function redisBytes({ link }) {
  const info = String(await link.run('info', ['memory']));
  return Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
}

/** As the router makes it: a string of its own, joined from two. */
function keyOf(i) {
  return `5:bench:s:${`conversation-${i.toString(16).padStart(16, '0')}`}`;
}

function candidatesOf(i) {
  return [`http://10.0.0.${(i % 8) + 1}:8000`, `http://10.0.0.${((i + 1) % 8) + 1}:8000`];
}
