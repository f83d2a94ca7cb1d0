/**
 * Cost of a decision from headers, without Envoy: `npm run build && node --expose-gc bench/decide.bench.mjs`.
 *
 * Microseconds and bytes allocated per decision, commit included.
 */
const root = process.env.DIST ?? '../dist';
const { MemoryPinStore } = await import(`${root}/pins/memory-pin-store.js`);
const { ModelPolicies } = await import(`${root}/routing/model-policies.js`);
const { STRUCT_DEFAULTS } = await import(`${root}/routing/policy-parameters.js`);
const { createRouter } = await import(`${root}/routing/router.js`);

const DECISIONS = 300_000;
const KEYS = 10_000;

const load = { requests: 0, distinctKeys: 0, ofKey: () => 0 };
const members = Array.from({ length: 16 }, (_, i) => ({
  id: `http://10.0.0.${i}:8000`,
  url: `http://10.0.0.${i}:8000`,
  name: '',
  type: 'regular',
  source: 'flags',
  models: [],
  status: 'ready',
  address: `10.0.0.${i}:8000`,
  placeable: true,
  keepsPins: true,
  load,
  priority: 50,
  cost: 1,
  labels: {},
}));
const pool = { model: 'unknown', members, memberIds: members.map((worker) => worker.id), available: members };
const snapshot = { version: 1, workers: members, pool: () => pool, models: [], uniform: true };
const requests = Array.from({ length: KEYS }, (_, i) => {
  const value = Buffer.from(`conversation-${i}_t${i % 9}`);
  return { head: { first: (name) => (name === 'x-smg-routing-key' ? value : undefined) }, model: '', bodyKeys: null };
});

console.log('policy\toverride\tµs a decision\tbytes a decision');
for (const name of ['round_robin', 'random', 'manual', 'consistent_hashing']) {
  for (const override of [false, true]) {
    const keys = { override, order: 'rid-first', headers: ['x-smg-routing-key'], implicitHeaders: [] };
    const pins = new MemoryPinStore({ maxPins: 1_000_000 });
    const router = createRouter({
      policies: new ModelPolicies({ name, options: { ...STRUCT_DEFAULTS, keys } }),
      pins,
      keys,
      overrideMode: 'delegate',
      manualMode: 'random',
      inflightCap: 2,
      pinLoadFactor: 0,
      failback: 'as-smg',
      fallbacks: 2,
      shed: true,
      learnFromPins: false,
    });
    const run = (count) => {
      for (let i = 0; i < count; i++) {
        const { write } = router.decide(requests[(i * 7919) % KEYS], snapshot, i, Math.random);
        if (write !== null) pins.put(write.key, write.candidates, write.expectedVersion, i);
      }
    };
    run(DECISIONS);
    globalThis.gc();
    const start = performance.now();
    run(DECISIONS);
    const micros = ((performance.now() - start) * 1000) / DECISIONS;
    globalThis.gc();
    // Few enough not to be collected in between.
    const before = process.memoryUsage().heapUsed;
    run(2000);
    const bytes = (process.memoryUsage().heapUsed - before) / 2000;
    console.log(`${name}\t${override}\t${micros.toFixed(2)}\t${bytes.toFixed(0)}`);
  }
}
