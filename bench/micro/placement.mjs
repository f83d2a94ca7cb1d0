/** The decision of the policies that look at load or prompt, with two workers to go on to: by policy and number of workers. */
import { createWorld, headersMessage, headOf } from './world.mjs';

const REQUESTS = 1000;
const WORKERS = [3, 100, 1000];
const TEXT_CHARS = 4000;
const KINDS = [
  ['least_load', 'least_load', 'none'],
  ['least_load, nobody reports', 'least_load', 'none'],
  ['power_of_two', 'power_of_two', 'none'],
  ['prefix_hash by text', 'prefix_hash', 'text'],
  ['prefix_hash by token ids', 'prefix_hash', 'tokens'],
  ['bucket', 'bucket', 'text'],
];

const PROMPTS = {
  none: () => ({ tokens: null, text: null, namespace: null }),
  text: (i) => ({ tokens: null, text: `conversation ${i} `.padEnd(TEXT_CHARS, 'lorem ipsum '), namespace: null }),
  tokens: (i) => ({ tokens: Uint32Array.from({ length: 512 }, (_, k) => i * 512 + k), text: null, namespace: null }),
};

export function placementCases() {
  const head = headOf(headersMessage({}));
  return KINDS.flatMap(([name, policy, prompt]) => {
    const requests = Array.from({ length: REQUESTS }, (_, i) => {
      return { head, model: 'bench', ridKey: null, prompt: PROMPTS[prompt](i) };
    });
    return WORKERS.map((workers) => {
      const { router, registry } = createWorld(workers, { SMG_POLICY: policy });
      if (!name.endsWith('nobody reports')) {
        for (const [i, { engine }] of [...registry.instances].entries()) engine.received(reportOf(i));
      }
      let now = 0;
      const run = (count) => {
        for (let i = 0; i < count; i++) router.decide(requests[i % REQUESTS], registry.current, now++, Math.random);
      };
      return { name, facts: { workers }, run };
    });
  });
}

/** An engine at work; no two workers are alike. */
function reportOf(i) {
  return {
    at: 0,
    ranks: [],
    runningRequests: 8,
    waitingRequests: i % 5,
    waitingUncachedTokens: (i * 37) % 4000,
    genThroughput: 1500 + (i % 90),
    tokenUsage: 0.3 + (i % 50) / 100,
  };
}
