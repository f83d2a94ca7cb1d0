import type { Place } from './tree.ts';

/** What the files leave open. */
export interface NotJudged {
  readonly place: Place;
  readonly reason: string;
}
