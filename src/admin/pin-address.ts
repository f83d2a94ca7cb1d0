import type { Leg } from '../routing/pin-key.ts';
import type { Router } from '../routing/router.ts';
import { modelLabel, type Pool, type WorkerSnapshot } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';

/** What says under which names keys are pinned now. */
export interface PinRules {
  readonly router: Router;
  readonly modelAliases: ReadonlyMap<string, string>;
  /** Keys of tenants are apart (`--tenant-header`). */
  readonly tenants: boolean;
}

/** Whose key is meant; null where the query does not say. */
export interface PinQuery {
  readonly key: string;
  readonly model: string | null;
  readonly leg: string | null;
  readonly tenant: string | null;
}

/** Where the pin of a key is. */
export interface PinAddress {
  /** Names it may have, likeliest first. */
  readonly names: readonly string[];
  readonly model: string;
  readonly leg: Leg;
  /** Every worker that requests of this model and leg may go to. */
  readonly workers: readonly Worker[];
}

export type AddressResult =
  | { readonly ok: true; readonly address: PinAddress }
  | { readonly ok: false; readonly problem: string };

const LEGS: readonly string[] = ['single', 'prefill', 'decode'] satisfies Leg[];

/**
 * The address that a request with such a key has: one without a model is for the only model there is, else for `unknown`;
 * one without a leg is whole, or where requests are split its decode leg; one without a tenant has no tenant's header.
 */
export function pinAddress(
  { key, model, leg, tenant }: PinQuery,
  fleet: WorkerSnapshot,
  rules: PinRules,
): AddressResult {
  const wanted = leg ?? (fleet.disaggregated ? 'decode' : 'single');
  if (!isLeg(wanted)) return wrong(`leg ${JSON.stringify(wanted)}: expected ${LEGS.join(', ')}`);
  if (wanted !== 'single' && !fleet.disaggregated) return wrong(`leg ${wanted}: requests are not split here`);
  if (tenant !== null && !rules.tenants) return wrong('tenant: needs --tenant-header');

  const named = model ?? fleet.soleModel;
  const canonical = rules.modelAliases.get(named) ?? named;
  const pools = poolsOf(canonical, wanted, fleet);
  const pool = pools[0] ?? { ...NOBODY, model: modelLabel(canonical) };
  const names = rules.router.pinKeys(tenant, pool, wanted, key);
  const workers = pools.flatMap(({ members }) => members);
  return { ok: true, address: { names, model: pool.model, leg: wanted, workers } };
}

const NOBODY = { members: [], memberIds: [], available: [] };

function wrong(problem: string): AddressResult {
  return { ok: false, problem };
}

function isLeg(text: string): text is Leg {
  return LEGS.includes(text);
}

/** gRPC requests have workers of their own, and share the names of pins with the others. */
function poolsOf(model: string, leg: Leg, fleet: WorkerSnapshot): readonly Pool[] {
  const type = leg === 'single' ? 'regular' : leg;
  return [fleet.pool(model, type), leg === 'single' ? fleet.grpc?.pool(model, type) : undefined].filter(
    (pool) => pool !== undefined,
  );
}

/** Why a worker can take no new key of that address, null when it can. */
export function unfitness(id: string, { model, leg, workers }: PinAddress, fleet: WorkerSnapshot): string | null {
  const worker = fleet.byId(id);
  if (worker === undefined) return `No worker has the id ${JSON.stringify(id)}`;
  if (!workers.some((member) => member.id === id)) {
    const what = leg === 'single' ? '' : `the ${leg} of `;
    return `Worker ${id} gets no requests for ${what}model ${JSON.stringify(model)}`;
  }
  if (worker.placeable) return null;
  if (worker.status !== 'ready') return `Worker ${id} is ${worker.status}`;
  if (worker.breaker === 'open') return `The circuit breaker of worker ${id} is open`;
  if (worker.overloaded) return `Worker ${id} is overloaded`;
  return `Worker ${id} takes no new keys now`;
}
