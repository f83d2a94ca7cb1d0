/** The policies of a fleet: one set for requests that go to one worker, and one for each leg where they go to two. */
import type { Settings } from '../config/load-settings.ts';
import { ModelPolicies } from '../routing/model-policies.ts';
import type { Policy } from '../routing/policy.ts';
import type { WorkerSnapshot } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';
import { gatewayPolicyOf, type LegPolicies, type RoutingPolicies } from './picker-config.ts';

export class FleetPolicies implements RoutingPolicies {
  readonly whole: ModelPolicies;
  readonly legs: LegPolicies | null;

  /** @param unknownLabel see `ModelPoliciesHooks` */
  constructor(settings: Settings, unknownLabel: (worker: Worker, label: string) => void) {
    this.whole = new ModelPolicies(gatewayPolicyOf(settings), { unknownLabel });
    this.legs = settings.pdDisaggregation
      ? {
          prefill: new ModelPolicies(gatewayPolicyOf(settings, 'prefill'), { labels: false }),
          decode: new ModelPolicies(gatewayPolicyOf(settings, 'decode'), { labels: false }),
        }
      : null;
  }

  get all(): readonly Policy[] {
    return this.#sets.flatMap((policies) => policies.all);
  }

  /** True when some policy of those that place most requests looks at load reports. */
  get needsLoads(): boolean {
    const { legs, whole } = this;
    return legs === null ? whole.needsLoads : legs.prefill.needsLoads || legs.decode.needsLoads;
  }

  /** Takes in a reload. */
  configure(settings: Settings): void {
    this.whole.configure(gatewayPolicyOf(settings));
    this.legs?.prefill.configure(gatewayPolicyOf(settings, 'prefill'));
    this.legs?.decode.configure(gatewayPolicyOf(settings, 'decode'));
  }

  /** Takes in a change of the fleet. */
  follow(snapshot: WorkerSnapshot): void {
    for (const policies of this.#sets) policies.follow(snapshot);
  }

  get #sets(): readonly ModelPolicies[] {
    return this.legs === null ? [this.whole] : [this.whole, this.legs.prefill, this.legs.decode];
  }
}
