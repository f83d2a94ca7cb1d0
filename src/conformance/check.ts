import type { Context } from './context.ts';

/** One statement on pickers that can be tried from outside. */
export interface Check {
  /** Stable: `P` of the protocol's checklist, `E` of what Envoy demands of any processor, `G` of the gateways' suite. */
  readonly id: string;
  readonly title: string;
  /** Where the rule comes from, as the public can look it up. */
  readonly source: string;
  run(context: Context, findings: Findings): Promise<void>;
}

/**
 * - `held`: tried, and as it must be.
 * - `broken`: tried, and not as it must be.
 * - `unjudged`: could not be tried on this picker.
 */
export type Verdict = 'held' | 'broken' | 'unjudged';

export interface Finding {
  readonly verdict: Verdict;
  /** What was sent; for `unjudged` what would be. */
  readonly sent: string;
  readonly expected: string;
  /** What came; for `unjudged` why it could not be tried. */
  readonly came: string;
}

/** Collects what one check finds. */
export class Findings {
  readonly list: Finding[] = [];

  /** Notes one try. Answers with `held`. */
  expect(held: boolean, sent: string, expected: string, came: string): boolean {
    this.list.push({ verdict: held ? 'held' : 'broken', sent, expected, came });
    return held;
  }

  unjudged(sent: string, reason: string): void {
    this.list.push({ verdict: 'unjudged', sent, expected: '', came: reason });
  }
}
