import { MemoryPinStore } from '../../src/pins/memory-pin-store.ts';
import { type BodyKeys, ScannedKeys } from '../../src/request/body-keys.ts';
import { bodyMembersAnd } from '../../src/request/body-members.ts';
import { scanObject } from '../../src/request/json-scanner.ts';
import { NO_PROMPT, type Prompt } from '../../src/request/prompt.ts';
import { GOES_ON } from '../../src/request/prompt-text.ts';
import type { RoutingRequest } from '../../src/request/routing-request.ts';
import type { AssignmentMode } from '../../src/routing/assignment.ts';
import type { Decision, Outcome } from '../../src/routing/decision.ts';
import { type KeyOrder, keySources, SOURCES_OF_ORDER } from '../../src/routing/key-sources.ts';
import { ModelPolicies } from '../../src/routing/model-policies.ts';
import type { PairingMode } from '../../src/routing/pairing/compatibility.ts';
import { PairRouter } from '../../src/routing/pairing/pair-router.ts';
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
  sources: keySources(SOURCES_OF_ORDER['rid-first']),
  headers: ['x-smg-routing-key'],
  implicitHeaders: ['authorization', 'x-forwarded-for', 'cookie'],
  manualReadsList: false,
};

/** Key rules in words: an order by its name, or sources as an operator writes them. */
export interface KeyParts extends Partial<Omit<KeyRules, 'sources'>> {
  readonly order?: KeyOrder;
  readonly sources?: readonly string[];
}

export function keyRules({ order = 'rid-first', sources = SOURCES_OF_ORDER[order], ...rest }: KeyParts = {}): KeyRules {
  return { ...SMG_KEYS, ...rest, sources: keySources(sources) };
}

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
  readonly path?: string;
  /** The body of a chat request, in which keys are looked for. */
  readonly body?: unknown;
}

function bodyKeysOf({ rid, body }: RequestParts): BodyKeys | null {
  if (body === undefined) return rid === undefined ? null : { rid, at: () => null, opening: null };
  const names = Object.keys(body as object);
  const scan = scanObject(Buffer.from(JSON.stringify(body)), bodyMembersAnd([...names, ...GOES_ON]));
  return new ScannedKeys('chat', scan, rid ?? null);
}

export function makeRequest(parts: RequestParts = {}): RoutingRequest {
  const headers = [...(parts.headers ?? [])];
  if (parts.key !== undefined) headers.push(['x-smg-routing-key', parts.key]);
  if (parts.target !== undefined) headers.push(['x-smg-target-worker', parts.target]);
  return {
    head: headOf({ headers, ...(parts.path === undefined ? {} : { path: parts.path }) }),
    model: parts.model ?? '',
    bodyKeys: bodyKeysOf(parts),
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
  inflightCap: 2,
  pinLoadFactor: 0,
  failback: 'as-smg',
  tenantHeader: null,
  fallbacks: 2,
  shed: true,
  learnFromPins: false,
  checkModel: false,
} as const satisfies Partial<RouterOptions>;

export interface DriverOptions extends Partial<Omit<RouterOptions, 'policies' | 'pins' | 'keys'>> {
  readonly policy?: PolicyName | Policy;
  readonly keys?: KeyParts;
  /** Of the override and of `manual`. */
  readonly mode?: AssignmentMode;
  readonly random?: Random;
  readonly maxPins?: number;
  /** Makes it a router of a fleet that is split, with these policies on the legs. */
  readonly pair?: PairParts;
}

export interface PairParts {
  readonly prefill?: PolicyName;
  readonly decode?: PolicyName;
  readonly mode?: PairingMode;
  readonly readsBodies?: boolean;
  readonly mirrored?: boolean;
}

/** A router with a fleet and a pin store, driven as the picker drives it: decide, commit, decide again when another won. */
export class RouterDriver {
  readonly router: Router;
  readonly pins: MemoryPinStore;
  readonly fleet: TestFleet;
  now = 1;
  readonly #random: Random;
  readonly #policies: readonly ModelPolicies[];

  constructor(fleet: TestFleet, options: DriverOptions = {}) {
    this.fleet = fleet;
    this.#random = options.random ?? (() => 0);
    this.pins = new MemoryPinStore({ maxPins: options.maxPins ?? 1000 });
    const keys = keyRules(options.keys);
    const manualMode = options.mode ?? 'random';
    const policies = modelPolicies(options.policy ?? 'round_robin', policyOptions({ keys, manualMode }));
    const routing: RouterOptions = {
      ...ROUTER_DEFAULTS,
      ...(options.mode === undefined ? {} : { overrideMode: options.mode }),
      ...options,
      policies,
      pins: this.pins,
      keys,
    };
    const single = createRouter(routing);
    const { pair } = options;
    if (pair === undefined) {
      this.router = single;
      this.#policies = [policies];
      return;
    }
    const { mode = 'lenient', readsBodies = true, mirrored = false } = pair;
    const prefill = modelPolicies(pair.prefill ?? policies.standard.name, policyOptions({ keys, manualMode }));
    const decode = modelPolicies(pair.decode ?? policies.standard.name, policyOptions({ keys, manualMode }));
    this.router = new PairRouter(single, routing, { prefill, decode, mode, readsBodies, mirrored });
    this.#policies = [policies, prefill, decode];
  }

  decide(parts: RequestParts): Outcome {
    for (const policies of this.#policies) policies.follow(this.fleet.snapshot);
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
    const legs = decision.prefill === null ? [decision] : [decision.prefill, decision];
    for (const { worker, loadKey } of legs) (worker.load as TestLoad).begin(loadKey);
    return {
      decision,
      end: () => {
        for (const { worker, loadKey } of legs) (worker.load as TestLoad).end(loadKey);
      },
    };
  }

  /** Writes the pins of a decision; false when another was first. */
  commit({ write, prefill }: Decision): boolean {
    if (prefill !== null && !this.commit(prefill)) return false;
    if (write === null) return true;
    const pin = this.pins.put(write.key, write.candidates, write.expectedVersion, this.now);
    return pin.candidates.join() === write.candidates.join();
  }

  candidates(pinKey: string): readonly string[] | undefined {
    return this.pins.peek(pinKey)?.candidates;
  }
}
