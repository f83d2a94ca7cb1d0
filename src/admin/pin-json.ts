import type { Pin, PinEntry } from '../pins/pin-store.ts';
import { readPinKey } from '../routing/pin-key.ts';
import type { WorkerSnapshot } from '../workers/snapshot.ts';
import type { FoundPin } from './pin-changes.ts';

/** A pin as `GET /pins` lists it. */
export function pinRow(entry: PinEntry, fleet: WorkerSnapshot) {
  return {
    ...nameJson(entry.key),
    worker_id: servingWorker(entry, fleet),
    candidates: entry.candidates,
    version: entry.version,
    idle_secs: Math.round(Math.max(0, entry.idleMs)) / 1000,
    shared: entry.shared,
  };
}

/** A pin as `GET /pins/{key}` shows it. */
export function pinJson({ name, local, shared, away }: FoundPin, isShared: boolean, fleet: WorkerSnapshot) {
  const used = local ?? shared;
  return {
    ...nameJson(name),
    worker_id: used === null ? null : servingWorker(used, fleet),
    candidates: used === null ? [] : used.candidates,
    local: stateJson(local),
    shared: isShared ? stateJson(shared) : null,
    shared_reason: sharedReason(shared, isShared, away),
  };
}

/** The key and what it is pinned for. */
export function nameJson(name: string) {
  const { key, kind, model, leg, tenant } = readPinKey(name);
  return {
    key,
    kind,
    model,
    leg,
    ...(tenant === null ? {} : { tenant: tenant.name }),
    ...(tenant === null || tenant.digest === null ? {} : { tenant_digest: tenant.digest }),
  };
}

function stateJson(pin: Pin | null) {
  return pin === null ? null : { candidates: pin.candidates, version: pin.version };
}

/** Why `shared` is null; null when it is not. */
function sharedReason(shared: Pin | null, isShared: boolean, away: boolean): string | null {
  if (!isShared) return 'pins are kept in this process alone';
  if (away) return 'the pin store does not answer';
  return shared === null ? 'the pin store does not hold the key' : null;
}

/** Where the next request of the key goes by its pin; null when it is placed anew. */
function servingWorker({ candidates }: Pin, fleet: WorkerSnapshot): string | null {
  return candidates.find((id) => fleet.byId(id)?.keepsPins) ?? null;
}
