/** Asks the picker for a dry run, and tells every step of it. Beside requests, never in one. */
import type { StreamFacts } from '../picker/answer.ts';
import { destinationOf } from '../picker/destination.ts';
import { fleetFor } from '../picker/fleet-for.ts';
import type { Picker } from '../picker/picker.ts';
import type { Rehearsed } from '../picker/rehearsed.ts';
import type { PinStore } from '../pins/pin-store.ts';
import type { Decision, Outcome, Trail } from '../routing/decision.ts';
import type { Leg } from '../routing/pin-key.ts';
import type { Rehearsal, RehearsedStep, Weight } from '../routing/rehearsal.ts';
import type { PassReason, RefusalCode } from '../telemetry/own-metrics.ts';
import type { WorkerSnapshot } from '../workers/snapshot.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import { AskedHead, type AskedRequest, subsetOf } from './asked-request.ts';
import { explainedKey } from './explained-key.ts';
import { explainedWorkers } from './explained-workers.ts';
import type { ExplainedLeg, ExplainedPin, Explanation } from './explanation.ts';

export interface ExplainerParts {
  readonly picker: Pick<Picker, 'rehearse'>;
  readonly fleet: SnapshotSource;
  readonly pins: Pick<PinStore, 'peek' | 'idleMs' | 'kind' | 'away'>;
  /** Milliseconds, monotonic: the clock of the pins. */
  readonly clock: () => number;
}

/** A dry run. */
export interface Explained {
  readonly explanation: Explanation;
  /** As routing has it; null when it was not asked. */
  readonly outcome: Outcome | null;
  /** Why routing was not asked, or Envoy gets no pick; null when `outcome` tells. */
  readonly why: RefusalCode | PassReason | null;
}

export class Explainer {
  readonly #parts: ExplainerParts;

  constructor(parts: ExplainerParts) {
    this.#parts = parts;
  }

  explain(asked: AskedRequest): Explained {
    const head = new AskedHead(asked);
    const facts: StreamFacts = {
      periodicLogMs: 0,
      endpointPicker: false,
      editsBody: true,
      pickId: null,
      subset: subsetOf(asked),
    };
    const steps = new Steps(this.#parts.clock);
    let rehearsed: Rehearsed;
    try {
      rehearsed = this.#parts.picker.rehearse(head, asked.body, facts, steps);
    } finally {
      steps.end();
    }
    const { outcome, plan, opaque, refusal, pass, timing } = rehearsed;
    const fleet = fleetFor(head, this.#parts.fleet.current);
    const placed = outcome?.kind === 'placed' ? outcome : null;
    const why = pass ?? (outcome === null ? (refusal?.code ?? null) : null);
    const explanation: Explanation = {
      result: placed !== null ? 'placed' : pass !== null ? 'passed' : 'refused',
      worker_id: placed?.worker.id ?? null,
      worker: placed?.worker.name ?? null,
      destination: placed === null ? null : destinationOf(placed),
      model: outcome?.model ?? null,
      policy: outcome?.policy ?? null,
      branch: outcome === null ? null : branchOf(outcome.trail),
      strict: outcome?.strict ?? false,
      fallbacks: placed?.fallbacks.map(({ id }) => id) ?? [],
      reason: why ?? (outcome?.kind === 'refused' ? outcome.reason : null),
      refusal:
        refusal === null
          ? null
          : {
              status: refusal.status,
              code: refusal.code,
              message: refusal.message,
              retry_after_secs: refusal.retryAfterSecs,
            },
      body: {
        bytes: asked.body.length,
        read: plan.readBody && asked.body.length > 0,
        reason: plan.reason,
        opaque,
      },
      legs: [...steps.last.values()].map((step) => this.#legOf(step, rehearsed, facts, fleet)),
      known_models: outcome?.kind === 'refused' && outcome.reason === 'model_not_found' ? fleet.models : null,
      timings_ms: { read: rounded(timing.readMs), decide: rounded(timing.decideMs - steps.weighingMs) },
    };
    return { explanation, outcome, why };
  }

  #legOf({ step, weights }: Step, rehearsed: Rehearsed, facts: StreamFacts, fleet: WorkerSnapshot): ExplainedLeg {
    const { leg, placement, policy, stickiness, pinKey } = step;
    const { request, pool, candidates, trail } = placement;
    const type = leg === 'single' ? 'regular' : leg;
    const decision = decisionOn(leg, rehearsed.outcome);
    return {
      leg,
      model: pool.model,
      alias: rehearsed.request !== null && rehearsed.request.canonicalModel !== null,
      policy: policy.name,
      sticky_by: stickiness.kind,
      branch: branchOf(trail),
      policy_branch: trail.cacheBranch ?? trail.prefixBranch,
      match_ratio: trail.matchRatio < 0 ? null : rounded(trail.matchRatio),
      past_veto: trail.pastVeto,
      worker_id: decision?.worker.id ?? null,
      key: explainedKey(step, rehearsed.request?.whole ?? null),
      pin: pinKey === null ? null : this.#pinOf(step, pinKey, decision),
      workers: explainedWorkers({
        workers: this.#parts.fleet.current.workers.filter((worker) => worker.type === type),
        pool: fleet.pool(request.model, type),
        usable: pool,
        model: request.model,
        candidates,
        weights,
        subset: facts.subset,
        decision,
      }),
    };
  }

  #pinOf({ placement, stickiness, loadKey }: RehearsedStep, pinKey: string, decision: Decision | null): ExplainedPin {
    const { pins, clock } = this.#parts;
    const pin = pins.peek(pinKey);
    const idleMs = pins.idleMs(pinKey, clock());
    const members = new Map(placement.pool.members.map((worker) => [worker.id, worker]));
    const written = decision !== null && decision.write !== null;
    return {
      held: pin !== undefined,
      candidates: (pin?.candidates ?? []).map((id) => ({
        worker_id: id,
        serves: members.get(id)?.keepsPins === true,
        in_flight: loadKey === null ? 0 : (members.get(id)?.load.ofKey(loadKey) ?? 0),
      })),
      version: pin?.version ?? 0,
      idle_secs: idleMs === null ? null : Math.round(Math.max(0, idleMs)) / 1000,
      // Past the veto a key is placed, and its pin left as it is.
      after: decision === null ? 'none' : written ? 'written' : 'kept',
      inflight_cap: stickiness.rules.inflightCap,
      store: pins.kind,
      asks_store: written && pins.kind !== 'memory' && !pins.away,
    };
  }
}

interface Step {
  readonly step: RehearsedStep;
  readonly weights: readonly Weight[];
}

/** The steps of one dry run. What a policy goes by is asked at once, before it picks. */
class Steps implements Rehearsal {
  /** By leg. */
  readonly last = new Map<Leg, Step>();
  /** What the questions took, which no decision asks. */
  weighingMs = 0;
  readonly #clock: () => number;
  readonly #undo: (() => void)[] = [];

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  placing(step: RehearsedStep): void {
    const startedAt = this.#clock();
    const weights = step.placement.candidates.length === 0 ? [] : (step.policy.weigh?.(step.placement) ?? []);
    this.weighingMs += this.#clock() - startedAt;
    this.last.set(step.leg, { step, weights });
  }

  changed(undo: () => void): void {
    this.#undo.push(undo);
  }

  end(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }
}

/** The decision of a pair is that on its decode leg, with the other in it. */
function decisionOn(leg: Leg, outcome: Outcome | null): Decision | null {
  if (outcome === null || outcome.kind === 'refused') return null;
  return leg === 'prefill' && outcome.prefill !== null ? outcome.prefill : outcome;
}

function branchOf({ stickyBranch, ringBranch }: Trail): string {
  return stickyBranch ?? ringBranch ?? 'policy';
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
