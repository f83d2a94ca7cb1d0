import type { Decision } from '../routing/decision.ts';
import type { Worker } from '../workers/worker.ts';

/** The workers of a decision as Envoy reads them: `ip:port[,ip:port…]`, best first, no address twice (envoy 6.2). Hot path. */
export function destinationOf(decision: Decision): string {
  let list = decision.worker.address;
  const { worker, fallbacks } = decision;
  for (let i = 0; i < fallbacks.length; i++) {
    const { address } = fallbacks[i] ?? worker;
    if (!isNamed(address, worker, fallbacks, i)) list += `,${address}`;
  }
  return list;
}

/** Ranks of one engine share its address, and Envoy would spend an attempt on each mention. */
function isNamed(address: string, worker: Worker, fallbacks: readonly Worker[], end: number): boolean {
  if (worker.address === address) return true;
  for (let i = 0; i < end; i++) if (fallbacks[i]?.address === address) return true;
  return false;
}
