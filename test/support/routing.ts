import { MemoryPinStore } from '../../src/pins/memory-pin-store.ts';
import { NO_PROMPT, type Prompt } from '../../src/request/prompt.ts';
import type { RoutingRequest } from '../../src/request/routing-request.ts';
import type { AssignmentMode } from '../../src/routing/assignment.ts';
import type { Decision, Outcome } from '../../src/routing/decision.ts';
import { ModelPolicies } from '../../src/routing/model-policies.ts';
import { createPolicy } from '../../src/routing/policies/create-policy.ts';
import type { Policy } from '../../src/routing/policy.ts';
import type { PolicyName } from '../../src/routing/policy-name.ts';
import { type PolicyOptions, STRUCT_DEFAULTS } from '../../src/routing/policy-parameters.ts';
import { createRouter, type Router, type RouterOptions } from '../../src/routing/router.ts';
import type { KeyRules } from '../../src/routing/routing-keys.ts';
import type { Random } from '../../src/util/random.ts';
import type { TestFleet, TestLoad } from './fleet.ts';
import { headOf } from './head.ts';

export const SMG_KEYS: KeyRules = {
  override: true,
  order: 'rid-first',
  headers: ['x-smg-routing-key'],
  implicitHeaders: ['authorization', 'x-forwarded-for', 'cookie'],
  implicitBlocks: true,
  manualReadsList: false,
};

/** Policy options with SMG's struct defaults. */
export function policyOptions(overrides: Partial<PolicyOptions> = {}): PolicyOptions {
  return { ...STRUCT_DEFAULTS, keys: SMG_KEYS, ...overrides };
}

export interface RequestParts {
  /** Sticky key of the body, as the request layer hands it over: stripped and capped. */
  readonly rid?: string;
  /** Value of `x-smg-routing-key`. */
  readonly key?: string | Uint8Array;
  readonly target?: string;
  readonly headers?: readonly (readonly [string, string | Uint8Array])[];
  readonly model?: string;
  readonly prompt?: Partial<Prompt>;
}

export function makeRequest(parts: RequestParts = {}): RoutingRequest {
  const headers = [...(parts.headers ?? [])];
  if (parts.key !== undefined) headers.push(['x-smg-routing-key', parts.key]);
  if (parts.target !== undefined) headers.push(['x-smg-target-worker', parts.target]);
  return {
    head: headOf({ headers }),
    model: parts.model ?? '',
    ridKey: parts.rid ?? null,
    prompt: { ...NO_PROMPT, ...parts.prompt },
  };
}

/** The gateway's policy by name, or one that is there already. */
export function modelPolicies(policy: PolicyName | Policy, options: PolicyOptions): ModelPolicies {
  if (typeof policy === 'string') return new ModelPolicies({ name: policy, options });
  const create = (name: PolicyName, own: PolicyOptions) => (name === policy.name ? policy : createPolicy(name, own));
  return new ModelPolicies({ name: policy.name, options }, { create });
}

/** What a router has as SMG has it, unless a test says otherwise. */
export const ROUTER_DEFAULTS = {
  overrideMode: 'delegate',
  manualMode: 'random',
  inflightCap: 2,
  pinLoadFactor: 0,
  failback: 'as-smg',
  fallbacks: 2,
  shed: true,
  learnFromPins: false,
} as const satisfies Partial<RouterOptions>;

export interface DriverOptions extends Partial<Omit<RouterOptions, 'policies' | 'pins' | 'keys'>> {
  readonly policy?: PolicyName | Policy;
  readonly keys?: Partial<KeyRules>;
  /** Of the override and of `manual`. */
  readonly mode?: AssignmentMode;
  readonly random?: Random;
  readonly maxPins?: number;
}

/** A router with a fleet and a pin store, driven as the picker drives it: decide, commit, decide again when another won. */
export class RouterDriver {
  readonly router: Router;
  readonly pins: MemoryPinStore;
  readonly fleet: TestFleet;
  now = 1;
  readonly #random: Random;
  readonly #policies: ModelPolicies;

  constructor(fleet: TestFleet, options: DriverOptions = {}) {
    this.fleet = fleet;
    this.#random = options.random ?? (() => 0);
    this.pins = new MemoryPinStore({ maxPins: options.maxPins ?? 1000 });
    const keys = { ...SMG_KEYS, ...options.keys };
    const manualMode = options.mode ?? 'random';
    this.#policies = modelPolicies(options.policy ?? 'round_robin', policyOptions({ keys, manualMode }));
    this.router = createRouter({
      ...ROUTER_DEFAULTS,
      ...(options.mode === undefined ? {} : { overrideMode: options.mode, manualMode }),
      ...options,
      policies: this.#policies,
      pins: this.pins,
      keys,
    });
  }

  decide(parts: RequestParts): Outcome {
    this.#policies.follow(this.fleet.snapshot);
    return this.router.decide(makeRequest(parts), this.fleet.snapshot, this.now, this.#random);
  }

  /** Decides and commits. */
  route(parts: RequestParts): Outcome {
    for (;;) {
      const outcome = this.decide(parts);
      if (outcome.kind === 'refused' || this.commit(outcome)) return outcome;
    }
  }

  /** Routes a request that must be placed. */
  place(parts: RequestParts): Decision {
    const outcome = this.route(parts);
    if (outcome.kind === 'refused') throw new Error(`refused: ${outcome.reason}`);
    return outcome;
  }

  /** Places a request and leaves it in flight until the returned function ends it. */
  hold(parts: RequestParts): { readonly decision: Decision; readonly end: () => void } {
    const decision = this.place(parts);
    const load = decision.worker.load as TestLoad;
    load.begin(decision.loadKey);
    return { decision, end: () => load.end(decision.loadKey) };
  }

  /** Writes the pin of a decision; false when another was first. */
  commit({ write }: Decision): boolean {
    if (write === null) return true;
    const pin = this.pins.put(write.key, write.candidates, write.expectedVersion, this.now);
    return pin.candidates.join() === write.candidates.join();
  }

  candidates(pinKey: string): readonly string[] | undefined {
    return this.pins.peek(pinKey)?.candidates;
  }
}
