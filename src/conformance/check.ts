import type { Connection } from './connection.ts';
import type { Fleet } from './fleet.ts';
import type { LoadMinded } from './held-load.ts';
import type { Outcome } from './outcome.ts';
import type { BodyMode, Plan } from './plan.ts';
import type { Requests } from './requests.ts';

/** What the operator tells about the picker. */
export interface Knowledge {
  /** Ready endpoints, `ip:port`; null where they have to be found by asking. */
  readonly endpoints: readonly string[] | null;
  /** Header whose value is a sticky key; null where the picker has none. */
  readonly stickyHeader: string | null;
  /** Opens a connection to the port of its health service, where that is another; else null. */
  readonly health: (() => Connection) | null;
  /** Opens a connection to a picker that sheds every request; null where there is none. */
  readonly overloaded: (() => Connection) | null;
  /** Whether the picker runs with the gateways' test switch (endpoint-picker-protocol 9). */
  readonly testSelection: boolean;
}

/** How much the heavy checks ask for. */
export interface Load {
  /** Largest body in bytes. */
  readonly largestBody: number;
  /** Largest single message in bytes. */
  readonly largestMessage: number;
  /** Streams open at once. */
  readonly streams: number;
  /** Streams that are reset, one after another. */
  readonly resets: number;
  /** Requests left running on one endpoint to see whether picks mind them. */
  readonly held: number;
  /** Requests that measure how many an endpoint gets. */
  readonly sample: number;
}

/** All that a check may use. */
export interface Context {
  readonly knowledge: Knowledge;
  readonly load: Load;
  readonly requests: Requests;
  readonly connection: Connection;
  /** A connection of its own, closed by who asked for it. */
  connect(): Connection;
  play(plan: Plan): Promise<Outcome>;
  playAll(plans: readonly Plan[]): Promise<readonly Outcome[]>;
  /** Whether an ordinary POST is placed in that mode at all, tried once. */
  places(mode: BodyMode): Promise<boolean>;
  /** The endpoints, found once. */
  fleet(): Promise<Fleet>;
  /** How the picker minds running requests, tried once; null when it does not, or it can't be told. */
  loadMinded(): Promise<LoadMinded | null>;
  /** One request of each sort in each mode, played once. */
  tour(): Promise<readonly Outcome[]>;
}

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
