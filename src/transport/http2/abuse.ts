import { Budget } from './budget.ts';
import type { Http2Limits } from './limits.ts';

/** What a peer may do at a rate, and no more. */
export type RatedDeed =
  | 'unanswered_resets'
  | 'provoked_resets'
  | 'pings'
  | 'settings'
  | 'empty_frames'
  | 'idle_frames'
  | 'window_updates';

/** The budgets of one connection. */
export class Abuse {
  readonly #budgets: Readonly<Record<RatedDeed, Budget>>;

  constructor(limits: Http2Limits, now: number) {
    this.#budgets = {
      unanswered_resets: new Budget(limits.unansweredResets, now),
      provoked_resets: new Budget(limits.provokedResets, now),
      pings: new Budget(limits.pings, now),
      settings: new Budget(limits.settings, now),
      empty_frames: new Budget(limits.emptyFrames, now),
      idle_frames: new Budget(limits.idleFrames, now),
      window_updates: new Budget(limits.windowUpdates, now),
    };
  }

  /** False when it was too often. */
  allows(deed: RatedDeed, now: number): boolean {
    return this.#budgets[deed].take(now);
  }
}
