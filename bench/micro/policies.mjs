/**
 * The decision alone, by policy and number of workers: the request has been read, and the pin is stored if there is one to
 * store. Besides the mean, each decision for itself, for its middle and its 99th of 100.
 */

import { busyWorld, KINDS, readRequestsOf, WORKERS } from './kinds.mjs';
import { measure, tail } from './measure.mjs';

const DECISIONS = 20_000;

/** One policy after the other, since each has its pins and its prompts; the numbers of workers take turns. */
export function measurePolicies(settings) {
  return KINDS.flatMap((kind) => {
    const requests = readRequestsOf(kind);
    const cases = WORKERS.map((workers) => caseOf(kind, workers, requests));
    const rows = measure(cases, settings);
    return rows.map((row, i) => ({ ...row, ...tail(cases[i], DECISIONS) }));
  });
}

function caseOf(kind, workers, requests) {
  const { router, pins, registry } = busyWorld(kind, workers);
  let number = 0;
  const run = (count) => {
    for (let i = 0; i < count; i++) {
      const request = requests[number % requests.length];
      const outcome = router.decide(request, registry.current, number++, Math.random);
      if (outcome.kind !== 'placed') throw new Error(`not placed: ${outcome.reason}`);
      const { write } = outcome;
      if (write !== null) pins.put(write.key, write.candidates, write.expectedVersion, number);
    }
  };
  run(requests.length);
  return { name: kind.name, facts: { workers }, run };
}
