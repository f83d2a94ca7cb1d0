import { readBody } from '../request/body-fields.ts';
import { endpointOf } from '../request/endpoint.ts';
import type { JsonScan } from '../request/json-scanner.ts';
import { newTrail } from '../routing/decision.ts';
import type { RehearsedStep } from '../routing/rehearsal.ts';
import { keyOf, loadKeyOf, prefixKeyOf, readListedKey, readRingKey, ringKeyOf } from '../routing/routing-keys.ts';
import { keyHash } from '../telemetry/key-hash.ts';
import type { ExplainedKey } from './explanation.ts';

/** Suffixes are `_t<digits>_r<digits>`, and digits can be many. */
const LONGEST_SUFFIX = 40;

/** The key that has to do with where a leg goes, null when the request has none. */
export function explainedKey(step: RehearsedStep, body: JsonScan | null): ExplainedKey | null {
  const { key, loadKey, keys, stickiness, policy, placement } = step;
  const { request } = placement;
  const trail = newTrail();
  if (key !== null) {
    keyOf(request, keys, stickiness.readHeader, trail);
    const suffix = droppedSuffix(step, key, body);
    return { source: trail.keySource, hash: keyHash(loadKey ?? key), dropped_suffix: suffix, use: 'pin' };
  }
  const hashed =
    policy.name === 'consistent_hashing'
      ? ringKeyOf(request, keys)
      : policy.name === 'prefix_hash'
        ? prefixKeyOf(request, keys)
        : null;
  if (hashed !== null) {
    const sources = policy.name === 'prefix_hash' ? keys.sources.filter(({ place }) => place !== 'rid') : keys.sources;
    keyOf(request, { ...keys, sources }, readRingKey, trail);
    return { source: trail.keySource ?? 'implicit', hash: keyHash(loadKey ?? hashed), dropped_suffix: '', use: 'ring' };
  }
  if (loadKey === null) return null;
  keyOf(request, keys, readListedKey, trail);
  const counted = loadKeyOf(request, keys) ?? '';
  const suffix = droppedSuffix(step, counted, body);
  return { source: trail.keySource, hash: keyHash(loadKey), dropped_suffix: suffix, use: 'count' };
}

/** What stands behind the conversation's key where the client sent it. */
function droppedSuffix({ keys, stickiness, placement }: RehearsedStep, key: string, body: JsonScan | null): string {
  const { request } = placement;
  if (!keys.override || stickiness.kind === 'manual') return '';
  const trail = newTrail();
  keyOf(request, keys, readListedKey, trail);
  const sent =
    trail.keySource === 'rid'
      ? ridAsSent(request.head.path, body)
      : keyOf(request, { ...keys, override: false }, readListedKey, null);
  return sent?.startsWith(key) ? sent.slice(key.length, key.length + LONGEST_SUFFIX) : '';
}

function ridAsSent(path: string, body: JsonScan | null): string | null {
  if (body === null) return null;
  const fields = readBody(body.bytes, true, endpointOf(path));
  return fields.kind === 'error' ? null : fields.rid;
}
