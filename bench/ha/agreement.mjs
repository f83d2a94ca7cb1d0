import { setTimeout as pause } from 'node:timers/promises';

const PAGE = 1000;
const LIMIT_MS = 20_000;

/**
 * Milliseconds from `since` until no two replicas hold a key at different workers, of those keys that they hold by then.
 */
export async function agreement(replicas, since) {
  for (;;) {
    const askedAt = performance.now();
    const differing = await disagreements(replicas);
    if (differing === 0) return askedAt - since;
    if (askedAt - since > LIMIT_MS) return Number.POSITIVE_INFINITY;
    await pause(20);
  }
}

/** Keys that two replicas hold at different workers. */
export async function disagreements({ services }) {
  const lists = await Promise.all(services.map(pinsOf));
  const workers = new Map();
  const differing = new Set();
  for (const pins of lists) {
    for (const { key, candidates } of pins) {
      const known = workers.get(key);
      if (known === undefined) workers.set(key, candidates[0]);
      else if (known !== candidates[0]) differing.add(key);
    }
  }
  return differing.size;
}

async function pinsOf(service) {
  const pins = [];
  let cursor = null;
  do {
    const page = (await service.admin(`/pins?limit=${PAGE}${cursor === null ? '' : `&cursor=${cursor}`}`)).json;
    pins.push(...page.pins);
    cursor = page.cursor;
  } while (cursor !== null);
  return pins;
}
