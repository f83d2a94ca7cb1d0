/** Makes decisions that hold: asks the router, commits the pins, and decides anew where another writer came first. */
import type { PinStore } from '../pins/pin-store.ts';
import { sameCandidates } from '../pins/same-candidates.ts';
import type { RoutingRequest } from '../request/routing-request.ts';
import type { Decision, Outcome, PinWrite } from '../routing/decision.ts';
import type { Eligibility } from '../routing/eligibility.ts';
import type { Rehearsal } from '../routing/rehearsal.ts';
import type { Router } from '../routing/router.ts';
import type { Random } from '../util/random.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import { placeSelection, selectionOf } from './endpoint-selection.ts';
import { fleetFor } from './fleet-for.ts';

export interface DecisionsParts {
  readonly fleet: SnapshotSource;
  readonly pins: PinStore;
  readonly random: Random;
  /** Draws what `random` is going to draw. */
  readonly ahead: () => Random;
  /** False for an address that a connected Envoy has not accepted yet: a strict target there would be served by nobody. */
  readonly envoyKnows: (address: string) => boolean;
  readonly onFailure: (error: unknown) => void;
}

export interface DecisionRules {
  readonly router: Router;
  /** Requests may name their endpoints by the header of the gateways' conformance tests (decisions 43). */
  readonly testEndpointSelection: boolean;
}

/** A store that never agrees must not loop. */
const MAX_COMMITS = 3;

export class Decisions {
  readonly #parts: DecisionsParts;

  constructor(parts: DecisionsParts) {
    this.#parts = parts;
  }

  /**
   * At once, unless a shared pin store has to be asked.
   *
   * @param eligible the workers that the request may use; null: all
   * @param now milliseconds, monotonic
   */
  settle(
    request: RoutingRequest,
    rules: DecisionRules,
    eligible: Eligibility | null,
    now: number,
    commits = 1,
  ): Outcome | Promise<Outcome> {
    const outcome = this.propose(request, rules, eligible, now);
    if (outcome.kind === 'refused') return outcome;
    const { write, prefill } = outcome;
    const other = prefill === null ? null : prefill.write;
    if (write === null && other === null) return outcome;
    const held = this.#put(write, now);
    const otherHeld = this.#put(other, now);
    if (!(held instanceof Promise) && !(otherHeld instanceof Promise)) {
      return held && otherHeld ? outcome : this.#anew(request, rules, eligible, now, commits);
    }
    return Promise.all([held, otherHeld]).then(([one, two]) =>
      // The fleet may have changed while the store was asked (field-lessons R25).
      one && two && this.#isThere(outcome) && (prefill === null || this.#isThere(prefill))
        ? outcome
        : this.#anew(request, rules, eligible, now, commits),
    );
  }

  /** Another was first, or the worker is gone. After the last commit the request goes by the pin as it is then. */
  #anew(
    request: RoutingRequest,
    rules: DecisionRules,
    eligible: Eligibility | null,
    now: number,
    commits: number,
  ): Outcome | Promise<Outcome> {
    return commits === MAX_COMMITS
      ? this.propose(request, rules, eligible, now)
      : this.settle(request, rules, eligible, now, commits + 1);
  }

  /** As `settle`, but moves no pin until the decision is kept. */
  propose(request: RoutingRequest, rules: DecisionRules, eligible: Eligibility | null, now: number): Outcome {
    return this.#strictlyKnown(this.#decide(request, rules, eligible, now, this.#parts.random, null));
  }

  /** What `propose` is going to answer, while nothing changes. */
  rehearse(
    request: RoutingRequest,
    rules: DecisionRules,
    eligible: Eligibility | null,
    now: number,
    rehearsal: Rehearsal,
  ): Outcome {
    return this.#strictlyKnown(this.#decide(request, rules, eligible, now, this.#parts.ahead(), rehearsal));
  }

  /** A proposal has proved good. Where another writer was faster, its pins hold. */
  keep({ write, prefill }: Decision, now: number): void {
    for (const one of [write, prefill === null ? null : prefill.write]) {
      const held = this.#put(one, now);
      if (held instanceof Promise) held.catch(this.#parts.onFailure);
    }
  }

  /** True when the pin is what the decision says. */
  #put(write: PinWrite | null, now: number): boolean | Promise<boolean> {
    if (write === null) return true;
    const { key, candidates, expectedVersion } = write;
    const held = this.#parts.pins.put(key, candidates, expectedVersion, now);
    return held instanceof Promise
      ? held.then((pin) => sameCandidates(pin.candidates, candidates))
      : sameCandidates(held.candidates, candidates);
  }

  #isThere({ worker }: Decision): boolean {
    return this.#parts.fleet.current.byId(worker.id)?.keepsPins === true;
  }

  #decide(
    request: RoutingRequest,
    rules: DecisionRules,
    eligible: Eligibility | null,
    now: number,
    random: Random,
    rehearsal: Rehearsal | null,
  ): Outcome {
    const { router, testEndpointSelection } = rules;
    const fleet = fleetFor(request.head, this.#parts.fleet.current);
    const selection = testEndpointSelection ? selectionOf(request.head) : null;
    if (selection === null) return router.decide(request, fleet, now, random, eligible, rehearsal);
    return placeSelection(selection, fleet, router.policies.standard.name, request.model);
  }

  /** A strict target that Envoy does not know would be served by nobody (decisions 25): refused as a miss. */
  #strictlyKnown(outcome: Outcome): Outcome {
    if (outcome.kind !== 'placed' || !outcome.strict || this.#parts.envoyKnows(outcome.worker.address)) return outcome;
    outcome.trail.ringBranch = 'target_worker_miss';
    const { worker, policy, model, trail } = outcome;
    const leg = worker.type === 'regular' ? 'single' : worker.type;
    const reason = 'no_available_workers';
    return { kind: 'refused', reason, leg, detail: null, strict: true, policy, model, trail };
  }
}
