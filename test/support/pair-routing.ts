/** Routers over prefill and decode workers, for tests. */

import type { Decision } from '../../src/routing/decision.ts';
import type { LegFacts } from '../../src/workers/leg-facts.ts';
import type { Worker } from '../../src/workers/worker.ts';
import type { WorkerType } from '../../src/workers/worker-kinds.ts';
import { makeWorker, TestFleet } from './fleet.ts';
import { type DriverOptions, type RequestParts, RouterDriver } from './routing.ts';

export const PATH = '/v1/chat/completions';

function facts(runtime: string): LegFacts {
  const layout = { dtype: null, page: null, attention: null, model: null };
  return { runtime, version: null, protocol: null, transport: null, layout, bootstrapPort: null, engineId: null };
}

/** `p1`, `d2:vllm`, `r1`: the first letter is the type, what follows the colon the engine. */
export function worker(text: string, more: Partial<Worker> = {}): Worker {
  const [id = '', runtime = 'sglang'] = text.split(':');
  const types: Record<string, WorkerType> = { p: 'prefill', d: 'decode', r: 'regular' };
  const type = types[id[0]!]!;
  return makeWorker(id, { type, legFacts: type === 'regular' ? null : facts(runtime), ...more });
}

export function driver(workers: string, options: DriverOptions = {}): RouterDriver {
  const { pair = {}, keys, ...rest } = options;
  const fleet = new TestFleet(
    workers.split(' ').map((text) => worker(text)),
    true,
  );
  return new RouterDriver(fleet, { pair, keys: { override: true, ...keys }, ...rest });
}

export const chat = (parts: RequestParts = {}): RequestParts => ({ path: PATH, ...parts });
export const pair = ({ prefill, worker: { id } }: Decision) => `${prefill?.worker.id ?? '-'}/${id}`;
export const place = (router: RouterDriver, parts: RequestParts = {}) => pair(router.place(chat(parts)));
export const times = <T>(n: number, each: () => T): T[] => Array.from({ length: n }, each);
