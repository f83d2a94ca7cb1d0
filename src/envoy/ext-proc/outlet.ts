import type { Phase } from './message.ts';

/** What goes out on a stream: answers by the kind of their message, refusals, and the wish for more time. */
export type OutgoingKind = Phase | 'immediate_response' | 'more_time';

/** Where the two directions of a stream put their answers. */
export interface Outlet {
  /** Does nothing once the stream is over. */
  send(kind: OutgoingKind, bytes: Buffer): void;
}
