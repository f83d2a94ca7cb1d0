/**
 * How the store was asked about a new or moved pin: the pin is as written; another replica was there first; it was late or
 * failed, and the pin is provisional; it was not waited for, since it is slow or down.
 */
export const ASK_RESULTS = ['won', 'followed', 'late', 'failed', 'behind'] as const;
export type AskResult = (typeof ASK_RESULTS)[number];

/**
 * What came from or went to the store off the request path: a change by another replica; a provisional pin that holds now, or
 * gave way to another; a pin that the store had lost; a pin whose end was put off.
 */
export const SYNC_RESULTS = ['changed', 'kept', 'gave_way', 'restored', 'refreshed'] as const;
export type SyncResult = (typeof SYNC_RESULTS)[number];

/** Is told of what the shared pins do. */
export interface SharedPinObserver {
  /** @param ms that the request waited for it; 0 when it did not */
  asked(result: AskResult, ms: number): void;
  synced(result: SyncResult): void;
}
