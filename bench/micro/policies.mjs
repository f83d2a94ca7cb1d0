/** The decision alone, by policy and number of workers. */
import { createWorld, headersMessage, headOf } from './world.mjs';

const KEYS = 1000;
const WORKERS = [3, 30, 300];
const KINDS = [
  ['round_robin', { SMG_POLICY: 'round_robin' }],
  ['random', { SMG_POLICY: 'random' }],
  ['passthrough', { SMG_POLICY: 'passthrough' }],
  ['consistent_hashing', { SMG_POLICY: 'consistent_hashing' }],
  ['manual, known pin', { SMG_POLICY: 'manual' }],
  ['override over round_robin, known pin', { SMG_POLICY: 'round_robin', SMG_ROUTING_KEY_OVERRIDE: 'true' }],
];

export function policyCases() {
  const requests = Array.from({ length: KEYS }, (_, i) => {
    const head = headOf(headersMessage({ 'x-smg-routing-key': `conversation-${i}` }));
    return { head, model: 'bench', ridKey: null };
  });
  return KINDS.flatMap(([name, env]) =>
    WORKERS.map((workers) => {
      const { router, pins, registry } = createWorld(workers, env);
      const run = (count) => {
        for (let i = 0; i < count; i++) {
          const { write } = router.decide(requests[i % KEYS], registry.current, i, Math.random);
          if (write !== null) pins.put(write.key, write.candidates, write.expectedVersion, i);
        }
      };
      return { name, facts: { workers }, run };
    }),
  );
}
