/** Which prefill and decode workers can work together (policies 4.2). Pure. */
import type { KvLayout, LegFacts } from '../../workers/leg-facts.ts';

/**
 * `--pd-pairing-mode`: `off` lets any two work together; `lenient` refuses two that say different things of themselves;
 * `strict` also two of which one does not say.
 */
export const PAIRING_MODES = ['off', 'lenient', 'strict'] as const;
export type PairingMode = (typeof PAIRING_MODES)[number];

/** On what two legs differ. */
export type Mismatch = 'runtime' | 'protocol' | 'transport' | 'kv_layout' | 'version';

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
    return prefill.protocol === decode.protocol ? null : 'protocol';
  }
  if (differ(prefill.protocol, decode.protocol, strict)) return 'protocol';
  if (differ(prefill.transport, decode.transport, strict, strict)) return 'transport';
  if (LAYOUT.some((key) => differ(prefill.layout[key], decode.layout[key], strict))) return 'kv_layout';
  return strict && differ(prefill.version, decode.version, false) ? 'version' : null;
}

const LAYOUT = ['dtype', 'page', 'attention', 'model'] as const satisfies readonly (keyof KvLayout)[];

/**
 * @param oneSided a fact that only one side tells counts as a difference
 * @param needed one that no side tells does, too
 */
function differ(a: string | null, b: string | null, oneSided: boolean, needed = false): boolean {
  if (a === null && b === null) return needed;
  return a === null || b === null ? oneSided : a !== b;
}
