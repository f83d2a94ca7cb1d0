import type { WorkerSpec } from './worker-spec.ts';
import { baseUrl, rankUrl } from './worker-url.ts';

/**
 * The workers that a declared engine stands for (policies 2.4): one for each of its ranks, itself where it has only one or is
 * not known yet.
 *
 * @param spec of the engine, or of one of its ranks
 */
export function rankSpecs(spec: WorkerSpec, dpSize: number | null): readonly WorkerSpec[] {
  if (dpSize === null || dpSize <= 1) return [{ ...spec, url: baseUrl(spec.url) }];
  return Array.from({ length: dpSize }, (_, rank) => ({ ...spec, url: rankUrl(spec.url, rank) }));
}
