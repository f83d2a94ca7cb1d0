/** Which prefill and decode workers can work together (policies 4.2). Pure. */
import type { KvLayout, LegFacts } from '../../workers/leg-facts.ts';

/**
 * `--pd-pairing-mode`: `off` lets any two work together; `lenient` refuses two that say different things of themselves;
 * `strict` also two of which one does not say.
 */
export const PAIRING_MODES = ['off', 'lenient', 'strict'] as const;
export type PairingMode = (typeof PAIRING_MODES)[number];

/** On what two legs differ, by the name that SMG gives it. */
export type Mismatch = 'runtime' | 'pairing_protocol' | 'transport' | LayoutLabel | 'version';
type LayoutLabel = (typeof LAYOUT)[number][1];

/** The engine wants its prefill done before the decode begins, so that both cannot be sent the same request (policies 4.4). */
export function goesInTurn({ runtime }: LegFacts): boolean {
  return runtime === 'vllm';
}

/** What keeps two workers apart, null when nothing does. */
export function mismatchOf(prefill: LegFacts, decode: LegFacts, mode: PairingMode): Mismatch | null {
  if (mode === 'off') return null;
  const strict = mode === 'strict';
  if (differ(prefill.runtime, decode.runtime, strict, strict)) return 'runtime';
  // An agreed protocol stands for everything that is told of transport and layout.
  if (prefill.protocol !== null && decode.protocol !== null) {
    return prefill.protocol === decode.protocol ? null : 'pairing_protocol';
  }
  if (differ(prefill.protocol, decode.protocol, strict)) return 'pairing_protocol';
  if (differ(prefill.transport, decode.transport, strict, strict)) return 'transport';
  const layout = LAYOUT.find(([key]) => differ(prefill.layout[key], decode.layout[key], strict));
  if (layout !== undefined) return layout[1];
  return strict && differ(prefill.version, decode.version, false) ? 'version' : null;
}

const LAYOUT = [
  ['dtype', 'kv_cache_dtype'],
  ['page', 'page_size'],
  ['attention', 'attention_backend'],
  ['model', 'model_dtype'],
] as const satisfies readonly (readonly [keyof KvLayout, string])[];

/**
 * @param oneSided a fact that only one side tells counts as a difference
 * @param needed one that no side tells does, too
 */
function differ(a: string | null, b: string | null, oneSided: boolean, needed = false): boolean {
  if (a === null && b === null) return needed;
  return a === null || b === null ? oneSided : a !== b;
}
