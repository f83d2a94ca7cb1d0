import { createHash } from 'node:crypto';
import type { Worker } from '../../workers/worker.ts';

/** Values of `--routed-worker-id` (interface 3). */
export type StampKind = 'url' | 'name' | 'hash' | 'off';

/**
 * What clients see of a worker in `x-smg-routed-worker-id` (decisions 22): its id, which is its URL with the rank; its
 * name; an opaque text that is the same on every replica; or nothing, as an empty text.
 */
export function workerStamp(worker: Pick<Worker, 'id' | 'name'>, kind: StampKind): string {
  switch (kind) {
    case 'url':
      return worker.id;
    case 'name':
      return worker.name;
    case 'hash':
      return createHash('sha256').update(worker.id).digest('hex').slice(0, 16);
    case 'off':
      return '';
  }
}
