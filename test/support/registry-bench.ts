import { LoadCounter } from '../../src/workers/load-counter.ts';
import { Registry } from '../../src/workers/registry.ts';
import type { RegistryOptions } from '../../src/workers/registry-options.ts';
import type { WorkerInstance } from '../../src/workers/worker-instance.ts';
import { parseWorkerSpec, type WorkerSpec } from '../../src/workers/worker-spec.ts';

export const A = 'http://10.0.0.1:8000';
export const B = 'http://10.0.0.2:8000';
export const C = 'http://10.0.0.3:8000';
export const THRESHOLDS = { successThreshold: 2, failureThreshold: 3 };

export function specOf(url: string, fields: object = {}): WorkerSpec {
  const result = parseWorkerSpec({ url, ...fields });
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.spec;
}

/** A registry that is driven by hand, and short forms for it. */
export function setUpRegistry(options: RegistryOptions = {}) {
  const registry = new Registry(options);
  const instance = (id: string): WorkerInstance => registry.instance(id)!;
  const worker = (id: string) => registry.current.byId(id)!;
  const probe = (id: string, probes: string) => {
    const target = registry.instance(id);
    for (const each of probes) {
      if (target === undefined) throw new Error(`no worker ${id}`);
      registry.probed(target, { at: 0, ok: each === '+', detail: '', durationMs: 0 }, THRESHOLDS, true);
    }
  };
  const ready = (...ids: string[]) => {
    for (const id of ids) {
      registry.add(specOf(id), 'api');
      registry.modelsAnswered(instance(id), []);
      probe(id, '++');
    }
  };
  const begin = (id: string) => LoadCounter.of(worker(id).load).add('k');
  const end = (id: string) => LoadCounter.of(worker(id).load).remove('k');
  const order = () => registry.current.workers.map((each) => each.id);
  return { registry, instance, worker, probe, ready, begin, end, order };
}
