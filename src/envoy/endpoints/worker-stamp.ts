import { createHash } from 'node:crypto';
import type { Worker } from '../../workers/worker.ts';
import { rankId } from '../../workers/worker-url.ts';

/** Values of `--routed-worker-id` (interface 3). */
export type StampKind = 'url' | 'name' | 'hash' | 'off';

/** What a stamp is made of. */
export type Stamped = Pick<Worker, 'url' | 'name' | 'rank'>;

/**
 * What clients see of a worker in `x-smg-routed-worker-id` (decisions 22): its URL; its name; an opaque text that is the same
 * on every replica; or nothing, as an empty text.
 *
 * @param rank data-parallel rank that the request named to the engine; it follows as `@rank` (decisions 46)
 */
export function workerStamp(worker: Stamped, kind: StampKind, rank: number | null): string {
  const stamp = engineStamp(worker, kind);
  return stamp === '' ? '' : rankId(stamp, rank);
}

function engineStamp({ url, name, rank }: Stamped, kind: StampKind): string {
  switch (kind) {
    case 'url':
      return url;
    case 'name':
      // The name of a rank ends with it.
      return rank === null ? name : name.slice(0, -rankId('', rank).length);
    case 'hash':
      return createHash('sha256').update(url).digest('hex').slice(0, 16);
    case 'off':
      return '';
  }
}
