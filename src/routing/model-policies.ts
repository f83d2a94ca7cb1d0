/** Which policy places the requests of which model, and what the policies keep while settings and fleet change. */
import { isDeepStrictEqual } from 'node:util';
import { NO_MODEL, type Pool, type WorkerSnapshot } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';
import { createPolicy } from './policies/create-policy.ts';
import type { Policy } from './policy.ts';
import { type PolicyName, policyNameOf } from './policy-name.ts';
import { type PolicyOptions, parametersOf, STRUCT_DEFAULTS } from './policy-parameters.ts';

/** The policy that the operator chose, with the operator's values. */
export interface GatewayPolicy {
  readonly name: PolicyName;
  readonly options: PolicyOptions;
}

export interface ModelPoliciesHooks {
  /** False where the labels of workers have no say: on the legs of disaggregation (policies 2.4). */
  readonly labels?: boolean;
  /** The label of a worker names no policy; its models get the gateway's. */
  readonly unknownLabel?: (worker: Worker, label: string) => void;
  readonly create?: typeof createPolicy;
}

/** One policy, with what it was made of. */
interface Made {
  readonly name: PolicyName;
  readonly parameters: unknown;
  readonly policy: Policy;
}

const LABEL = 'policy';

/**
 * The gateway's policy serves every model but those whose first registered worker names another one by its label `policy`
 * (policies 2.4). Such a model has a policy of its own until its last worker leaves.
 *
 * `follow` must be told of each snapshot before a request is placed in it.
 */
export class ModelPolicies {
  readonly #create: typeof createPolicy;
  readonly #unknownLabel: (worker: Worker, label: string) => void;
  readonly #labels: boolean;
  #gateway: GatewayPolicy;
  #standard: Made;
  /** What was decided for each model that workers serve; null for the gateway's policy. */
  readonly #decided = new Map<string, Made | null>();
  #workerIds: ReadonlySet<string> = new Set();
  #all: readonly Policy[] = [];
  #needsLoads = false;
  #needsPrompt = false;

  constructor(gateway: GatewayPolicy, hooks: ModelPoliciesHooks = {}) {
    this.#create = hooks.create ?? createPolicy;
    this.#unknownLabel = hooks.unknownLabel ?? (() => {});
    this.#labels = hooks.labels ?? true;
    this.#gateway = gateway;
    this.#standard = this.#make(gateway.name, gateway.options, null);
    this.#list();
  }

  /** The gateway's policy. */
  get standard(): Policy {
    return this.#standard.policy;
  }

  /** Every policy there is, the gateway's first. */
  get all(): readonly Policy[] {
    return this.#all;
  }

  /** True while the gateway's policy is the only one. */
  get single(): boolean {
    return this.#all.length === 1;
  }

  /** True when some policy looks at load reports. */
  get needsLoads(): boolean {
    return this.#needsLoads;
  }

  /** True when some policy looks at prompts. Hot path. */
  get needsPrompt(): boolean {
    return this.#needsPrompt;
  }

  /** The policy of a pool. Hot path. */
  of({ model }: Pool): Policy {
    if (this.#all.length === 1) return this.#standard.policy;
    let made = this.#decided.get(model);
    // A model that no worker lists is served by workers that list none.
    if (made === undefined) made = this.#decided.get(NO_MODEL);
    return (made ?? this.#standard).policy;
  }

  /** Takes in a reload. A policy stays, with all it knows, where its name and its parameters do. */
  configure(gateway: GatewayPolicy): void {
    this.#gateway = gateway;
    this.#standard = this.#make(gateway.name, gateway.options, this.#standard);
    for (const [model, made] of this.#decided) {
      if (made !== null) this.#decided.set(model, this.#makeOwn(made.name, made));
    }
    this.#list();
  }

  /** Takes in a change of the fleet: new models, models that are gone, workers to forget. */
  follow(snapshot: WorkerSnapshot): void {
    const present = new Set<string>();
    for (const worker of this.#labels ? snapshot.workers : []) {
      for (const model of modelsOf(worker)) {
        present.add(model);
        if (!this.#decided.has(model)) this.#decided.set(model, this.#madeBy(worker));
      }
    }
    for (const model of this.#decided.keys()) if (!present.has(model)) this.#decided.delete(model);
    this.#list();
    this.#forgetRemoved(snapshot);
  }

  #forgetRemoved(snapshot: WorkerSnapshot): void {
    for (const id of this.#workerIds) {
      if (snapshot.byId(id) === undefined) for (const { memory } of this.#all) memory?.forget(id);
    }
    this.#workerIds = new Set(snapshot.workers.map((worker) => worker.id));
  }

  #madeBy(worker: Worker): Made | null {
    const label = worker.labels[LABEL];
    if (label === undefined) return null;
    const name = policyNameOf(label);
    if (name !== undefined) return this.#makeOwn(name, null);
    this.#unknownLabel(worker, label);
    return null;
  }

  /** The operator's values hold for a policy of the same kind; any other gets SMG's own (policies 1.6.1). */
  #makeOwn(name: PolicyName, previous: Made | null): Made {
    const { options } = this.#gateway;
    const own = name === this.#gateway.name ? options : { ...STRUCT_DEFAULTS, keys: options.keys };
    return this.#make(name, own, previous);
  }

  #make(name: PolicyName, options: PolicyOptions, previous: Made | null): Made {
    const parameters = parametersOf(name, options);
    if (previous !== null && previous.name === name && isDeepStrictEqual(previous.parameters, parameters)) {
      return previous;
    }
    const other = previous !== null && previous.name === name ? previous.policy : null;
    return { name, parameters, policy: this.#create(name, options, other) };
  }

  #list(): void {
    const own = [...this.#decided.values()].flatMap((made) => made?.policy ?? []);
    this.#all = [this.#standard.policy, ...own];
    this.#needsLoads = this.#all.some(({ facts }) => facts.needsLoads);
    this.#needsPrompt = this.#all.some(({ facts }) => facts.needsPrompt);
  }
}

/** Models that a worker's label speaks for; none while it was not asked yet. Labels mean nothing on other legs. */
function modelsOf({ type, models, status }: Worker): readonly string[] {
  if (type !== 'regular') return [];
  if (models.length > 0) return models;
  return status === 'pending' ? [] : [NO_MODEL];
}
