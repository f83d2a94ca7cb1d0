import { Decisions } from '../../../src/picker/decisions.ts';
import { PinFollower } from '../../../src/picker/pin-follower.ts';
import { SharedPinStore } from '../../../src/pins/shared/shared-pin-store.ts';
import type { RoutingRequest } from '../../../src/request/routing-request.ts';
import type { Outcome } from '../../../src/routing/decision.ts';
import { createRouter, type Router } from '../../../src/routing/router.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import type { Random } from '../../../src/util/random.ts';
import type { InFlightEntry } from '../../../src/workers/in-flight-ledger.ts';
import type { WorkerSnapshot } from '../../../src/workers/snapshot.ts';
import type { SnapshotSource } from '../../../src/workers/snapshot-source.ts';
import type { TestFleet } from '../fleet.ts';
import { keyRules, modelPolicies, policyOptions, ROUTER_DEFAULTS } from '../routing.ts';
import { OwnTimers, type SimClock } from './sim-clock.ts';
import type { SimLine } from './sim-line.ts';
import { CLAIM_TIMEOUT_MS, type Traits } from './traits.ts';
import { WatchedPins } from './watched-pins.ts';

const METRICS = createMetrics();
const KEYS = keyRules();

export interface ReplicaParts {
  readonly name: string;
  readonly clock: SimClock;
  readonly traits: Traits;
  readonly random: Random;
  readonly line: SimLine;
  /** As this replica sees it. */
  readonly fleet: TestFleet;
  readonly waited: (replica: SimReplica, key: string, ms: number) => void;
}

/** One life of a process: the real pins, router, decisions and follower, over a simulated line. */
export class SimReplica {
  readonly name: string;
  readonly pins: WatchedPins;
  readonly line: SimLine;
  readonly fleet: TestFleet;
  readonly timers: OwnTimers;
  readonly startedAt: number;
  /** When it ended; infinite while it lives. */
  diedAt = Number.POSITIVE_INFINITY;
  readonly #clock: SimClock;
  readonly #traits: Traits;
  /** Monotonic clocks of processes begin anywhere. */
  readonly #ahead: number;
  readonly #router: Router;
  readonly #decisions: Decisions;
  readonly #follower: PinFollower;

  constructor({ name, clock, traits, random, line, fleet, waited }: ReplicaParts) {
    this.name = name;
    this.line = line;
    this.fleet = fleet;
    this.startedAt = clock.now;
    this.timers = new OwnTimers(clock);
    this.#clock = clock;
    this.#traits = traits;
    this.#ahead = Math.floor(random() * 1e6);
    const store = new SharedPinStore(
      {
        backend: line,
        link: line,
        names: { nameOf: (key) => key },
        observer: { asked: () => {}, synced: () => {} },
        timers: this.timers,
        clock: () => this.now,
      },
      { maxPins: traits.maxPins, maxIdleMs: traits.maxIdleMs, claimTimeoutMs: CLAIM_TIMEOUT_MS },
    );
    this.pins = new WatchedPins(
      store,
      () => this.now,
      (key, ms) => waited(this, key, ms),
    );
    const { pins } = this;
    const policies = modelPolicies('random', policyOptions({ keys: KEYS, manualMode: 'random' }));
    this.#router = createRouter({
      ...ROUTER_DEFAULTS,
      overrideMode: 'random',
      failback: 'never',
      policies,
      pins,
      keys: KEYS,
    });
    const source = sourceOf(fleet);
    const onFailure = (error: unknown): never => {
      throw error;
    };
    this.#decisions = new Decisions({
      fleet: source,
      pins,
      random,
      ahead: () => random,
      envoyKnows: () => true,
      onFailure,
    });
    this.#follower = new PinFollower({ fleet: source, pins, metrics: METRICS, router: () => this.#router, onFailure });
    if (traits.sweepMs > 0) this.#sweepIn(random() * traits.sweepMs);
  }

  get now(): number {
    return this.#clock.now + this.#ahead;
  }

  get dead(): boolean {
    return this.diedAt < Number.POSITIVE_INFINITY;
  }

  settle(request: RoutingRequest): Outcome | Promise<Outcome> {
    this.#router.policies.follow(this.fleet.snapshot);
    return this.#decisions.settle(request, { router: this.#router, testEndpointSelection: false }, null, this.now);
  }

  /** Another worker than the picked one has served. */
  follow(pinKey: string, pickedId: string, servedId: string): void {
    const worker = this.fleet.worker(pickedId);
    const entry = { pinKey, worker } as InFlightEntry;
    this.#follower.follow(entry, this.fleet.worker(servedId), this.now);
  }

  close(): void {
    this.diedAt = this.#clock.now;
    this.pins.store.close();
    this.line.close();
    this.stopSweeps();
  }

  stopSweeps: () => void = () => {};

  #sweepIn(ms: number): void {
    this.stopSweeps = this.#clock.after(ms, () => {
      while (this.pins.sweep(this.now, this.#traits.maxIdleMs) > 0);
      this.#sweepIn(this.#traits.sweepMs);
    });
  }
}

function sourceOf(fleet: TestFleet): SnapshotSource {
  return {
    get current(): WorkerSnapshot {
      return fleet.snapshot;
    },
    settled: true,
    subscribe: () => () => {},
  };
}
