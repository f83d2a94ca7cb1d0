import type { PinStore } from '../pins/pin-store.ts';
import type { Router } from '../routing/router.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { InFlightEntry } from '../workers/in-flight-ledger.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { Worker } from '../workers/worker.ts';

export interface PinFollowerParts {
  readonly fleet: SnapshotSource;
  readonly pins: PinStore;
  readonly metrics: Metrics;
  /** The router in force. */
  readonly router: () => Router;
  readonly onFailure: (error: unknown) => void;
}

/** Lets a pin follow the worker that served (decisions 2). */
export class PinFollower {
  readonly #parts: PinFollowerParts;

  constructor(parts: PinFollowerParts) {
    this.#parts = parts;
  }

  /** @param served the worker that gave a good answer to the pick, which may be the picked one */
  follow({ pinKey, worker }: InFlightEntry, served: Worker | undefined, now: number): void {
    if (pinKey === null || served === undefined || served.id === worker.id) return;
    const { pins, metrics, fleet, router, onFailure } = this.#parts;
    const pin = pins.peek(pinKey);
    if (pin === undefined) return;
    // Placed anew while this request ran: the newer word counts.
    const holder = pin.candidates.find((id) => fleet.current.byId(id)?.keepsPins);
    if (holder !== undefined && holder !== worker.id) return;
    const candidates = router().afterServed(pinKey, pin.candidates, served.id);
    if (candidates === null) return;
    metrics.pinMoves.cell(pins.kind).value += 1;
    const held = pins.put(pinKey, candidates, pin.version, now);
    if (held instanceof Promise) held.catch(onFailure);
  }
}
