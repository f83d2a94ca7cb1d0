/** What changes of the fleet come to. */
import type { Worker } from './worker.ts';

/** What adding a worker came to; `exists` names the worker that is there, even while it drains. */
export interface AddOutcome {
  readonly kind: 'added' | 'exists';
  readonly worker: Worker;
}

/** `removing`: on its way out, which nothing but its source can take back. */
export type DrainOutcome = 'ok' | 'unknown' | 'removing';

/** To be filled in. */
export function noChanges(): Record<keyof SourceChanges, string[]> {
  return { added: [], updated: [], removed: [], conflicts: [] };
}

/** Ids that a read of a whole source changed; `conflicts` belong to another source and stay as they are. */
export interface SourceChanges {
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly removed: readonly string[];
  readonly conflicts: readonly string[];
}
