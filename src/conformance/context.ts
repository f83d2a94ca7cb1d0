import type { Connection } from './connection.ts';
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
  /** Milliseconds without an answer to the headers after which a picker is taken to wait for the body. */
  readonly silenceMs: number;
}

/** Endpoints that the picker may name. */
export interface Fleet {
  readonly endpoints: readonly string[];
  /** False when they were found by asking: then an endpoint that was never named is missing here. */
  readonly given: boolean;
}

/** How a picker that keeps new requests away from endpoints on which others run spreads the ordinary ones. */
export interface LoadMinded {
  /** The endpoint that ordinary requests go to most, and its share. */
  readonly busiest: string;
  readonly share: number;
  /** Another one, the busiest of the rest. */
  readonly other: string;
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
  /** Whether keys of the sticky header stick, tried once; false without that header. */
  sticks(): Promise<boolean>;
  /** One request of each sort in each mode, played once. */
  tour(): Promise<readonly Outcome[]>;
}
