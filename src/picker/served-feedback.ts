/**
 * What the response to a pick tells where no access log is promised (endpoint-picker-protocol 5, decisions 7): its count
 * moves to the worker that served and its pin follows there, and the breakers learn of that worker and of those before it.
 */
import type { PinStore } from '../pins/pin-store.ts';
import type { InFlightLedger } from '../workers/in-flight-ledger.ts';
import { servedWorker } from '../workers/served-worker.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { BreakerFeed } from './breaker-feed.ts';
import { isServed } from './outcomes.ts';
import type { PinFollower } from './pin-follower.ts';

/** The head of a response, as a stream shows it. */
export interface SeenResponse {
  readonly pickId: string;
  /** What the pick named: `ip:port[,ip:port…]`. */
  readonly destination: string;
  /** `ip:port` of the worker that was asked last; empty when it is not told, and the first one named is assumed. */
  readonly address: string;
  readonly status: number;
  /** Envoy's `response_code_details`, null where it does not send them. */
  readonly codeDetails: string | null;
  /** Attempts that Envoy made, null when it does not tell. */
  readonly attempts: number | null;
}

export interface ServedFeedbackParts {
  readonly fleet: SnapshotSource;
  readonly pins: PinStore;
  readonly ledger: InFlightLedger;
  readonly breakers: BreakerFeed;
  readonly follower: PinFollower;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

const NOBODY: readonly string[] = [];

export class ServedFeedback {
  readonly #parts: ServedFeedbackParts;
  #told = false;

  constructor(parts: ServedFeedbackParts) {
    this.#parts = parts;
  }

  /** True once some stream has shown the response to its pick. */
  get told(): boolean {
    return this.#told;
  }

  /** The response headers of a pick passed by. */
  responseBegan(response: SeenResponse): void {
    const { pickId, destination, address, status, codeDetails } = response;
    const { fleet, ledger, breakers, follower, clock } = this.#parts;
    const entry = ledger.get(pickId);
    this.#told = true;
    // An assumed worker proves nothing: its count stays where it is, and no breaker hears of it.
    if (entry === undefined || address === '') return;
    breakers.answered(pickId, address, status, codeDetails, skippedBefore(destination, address, response.attempts));
    const served = servedWorker(fleet.current, '', address, entry.worker.rank);
    if (served === undefined) return;
    const now = clock();
    ledger.alive(pickId, now, served.id);
    if (isServed(status, codeDetails)) follower.follow(entry, served, now);
  }

  /** The stream of a pick is over, and it lasted as long as the response. An access-log entry may follow. */
  streamEnded(pickId: string): void {
    const { ledger, pins, clock } = this.#parts;
    const pinKey = ledger.get(pickId)?.pinKey ?? null;
    if (ledger.release(pickId, 'stream') && pinKey !== null) pins.touch(pinKey, clock());
  }
}

/**
 * The workers of a list that Envoy went past before it came to `address`: all of them where that one is not in the list.
 * One attempt alone went past nobody but workers that this Envoy does not know.
 */
function skippedBefore(destination: string, address: string, attempts: number | null): readonly string[] {
  if (attempts === 1 || destination === address || destination.startsWith(`${address},`)) return NOBODY;
  const list = destination.split(',');
  const at = list.indexOf(address);
  return at < 0 ? list : list.slice(0, at);
}
