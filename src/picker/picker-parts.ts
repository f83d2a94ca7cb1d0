import type { PinStore } from '../pins/pin-store.ts';
import type { MemberNames } from '../request/json-scanner.ts';
import type { RequestIds } from '../request/request-id.ts';
import type { Router } from '../routing/router.ts';
import type { Log } from '../telemetry/log.ts';
import type { Random } from '../util/random.ts';
import type { Outcome } from '../workers/breaker.ts';
import type { InFlightLedger } from '../workers/in-flight-ledger.ts';
import type { JudgedSource } from '../workers/snapshot-source.ts';
import type { DecisionWatch } from './decision-watch.ts';
import type { PickCounters } from './pick-counters.ts';
import type { PickIds } from './pick-ids.ts';
import type { PrefillDispatch } from './prefill-dispatch.ts';
import type { ErrorStyle } from './refusals.ts';
import type { RetryRules } from './retry-delay.ts';

/** What a reload may change. Replaced whole. */
export interface PickerConfig {
  readonly router: Router;
  /** What bodies are scanned for. */
  readonly bodyMembers: MemberNames;
  readonly maxPayloadBytes: number;
  /**
   * Bytes that Envoy keeps of a body in its buffered modes (`--envoy-body-limit`). A larger one may be seen whole, but an
   * answer that replaces it is never sent on: the request hangs.
   */
  readonly bodyEditLimitBytes: number;
  /** Lower-case names, in order. */
  readonly requestIdHeaders: readonly string[];
  /** Null: by stream (decisions 13). */
  readonly errorStyle: ErrorStyle | null;
  readonly decisionHeader: boolean;
  /** Requests may name their endpoints by the header of the gateways' conformance tests (decisions 43). */
  readonly testEndpointSelection: boolean;
  /** `retry-after` of a request that is shed: the time to the next load reports, in whole seconds (sticky-sessions 7.2). */
  readonly shedRetryAfterSecs: number;
  /** Further names of models, each with the model it stands for (policies 2.4). */
  readonly modelAliases: ReadonlyMap<string, string>;
  /** Attempts after the first that Envoy's route makes at most. */
  readonly routeRetries: number;
  /** Of a prefill that the service sends. */
  readonly prefillRetry: RetryRules;
}

export interface PickerParts {
  readonly fleet: JudgedSource;
  readonly pins: PinStore;
  readonly ledger: InFlightLedger;
  readonly counters: PickCounters;
  readonly watch: DecisionWatch;
  readonly log: Log;
  readonly pickIds: PickIds;
  readonly requestIds: RequestIds;
  readonly random: Random;
  /** Draws what `random` is going to draw, and leaves that as it is. */
  readonly ahead: () => Random;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
  /** False for an address that a connected Envoy has not accepted yet: a strict target there would be served by nobody. */
  readonly envoyKnows: (address: string) => boolean;
  /** Told of a failure inside a decision; the request goes on without a pick. */
  readonly onFailure: (error: unknown) => void;
  /** Sends the prefill of a request that is split. */
  readonly dispatch: PrefillDispatch;
  /** Tells the circuit breaker of a worker how a prefill went. */
  readonly attempted: (workerId: string, outcome: Outcome) => void;
}
