import type { Worker } from '../workers/worker.ts';
import type { Weight } from './rehearsal.ts';

/** Places that are told. Each is found by a walk of its own. */
const MOST_PLACES = 16;

/** In which order a ring comes to the candidates from a key on, the owner being 0. */
export function ringOrder(candidates: readonly Worker[], ownerOf: (taken: readonly Worker[]) => Worker | null): Weight {
  const order: Worker[] = [];
  while (order.length < MOST_PLACES) {
    const next = ownerOf(order);
    if (next === null) break;
    order.push(next);
  }
  return {
    name: 'ring_order',
    values: candidates.map((worker) => (order.includes(worker) ? order.indexOf(worker) : null)),
  };
}
