import type { Phase } from './message.ts';

/** Where the two directions of a stream put their answers. */
export interface Outlet {
  /** Does nothing once the stream is over. */
  send(kind: Phase | 'immediate_response', bytes: Buffer): void;
}
