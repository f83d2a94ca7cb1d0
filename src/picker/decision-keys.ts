import { stripLineage } from '../request/lineage.ts';
import { readScope } from '../request/tenant.ts';
import type { Decision } from '../routing/decision.ts';
import { readPinKey } from '../routing/pin-key.ts';

/** Spellings that decisions may keep of a key as its client sent it: that one, and its conversation (sticky-sessions 2.2). */
export function spellingsOf(key: string): ReadonlySet<string> {
  return new Set([key, stripLineage(key)]);
}

/** True for a request of that key, whatever its tenant, model and leg. */
export function hasKey({ loadKey, pinKey }: Decision, spellings: ReadonlySet<string>): boolean {
  if (loadKey !== null && spellings.has(loadKey.slice(readScope(loadKey).end))) return true;
  return pinKey !== null && spellings.has(readPinKey(pinKey).key);
}
