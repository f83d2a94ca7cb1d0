import type { AssignmentMode } from './assignment.ts';
import type { WriteMode } from './candidates.ts';
import { isManualPinKey } from './pin-key.ts';
import type { Policy } from './policy.ts';
import { type HeaderKeyReader, type KeyRules, manualReader, readListedKey, readRingKey } from './routing-keys.ts';
import type { StickyRules } from './sticky.ts';

/** Whether a key whose worker comes back returns to it (`--failback`): by mode as in SMG, never, or always. */
export const FAILBACKS = ['as-smg', 'never', 'always'] as const;
export type Failback = (typeof FAILBACKS)[number];

export interface StickinessOptions {
  readonly keys: KeyRules;
  /** Mode of the override (SMG: `delegate`). */
  readonly overrideMode: AssignmentMode;
  /** See `StickyRules`; `manual` has none (sticky-sessions 3.8). */
  readonly inflightCap: number;
  /** See `StickyRules`. */
  readonly pinLoadFactor: number;
  readonly failback: Failback;
}

/** What stands above a policy: how its keys are read, and what keeps them on workers (sticky-sessions 2.5, 3.1). */
export interface Stickiness {
  /** The override, `manual`, or nothing. */
  readonly kind: 'override' | 'manual' | 'none';
  readonly rules: StickyRules;
  readonly readHeader: HeaderKeyReader;
}

/** The three cases, made once: which one holds is a fact of the policy. */
export class StickinessByPolicy {
  readonly #manual: Stickiness;
  readonly #ring: Stickiness;
  readonly #override: Stickiness;

  constructor(options: StickinessOptions) {
    const { keys, overrideMode, inflightCap, pinLoadFactor } = options;
    const overridden: StickyRules = {
      mode: overrideMode,
      write: writeModeOf(options.failback, overrideMode === 'delegate'),
      inflightCap,
      pinLoadFactor,
    };
    this.#manual = {
      kind: 'manual',
      // The policy itself has the mode: a `manual` that a label names has SMG's own.
      rules: { mode: 'delegate', write: writeModeOf(options.failback, false), inflightCap: 0, pinLoadFactor },
      readHeader: manualReader(keys),
    };
    this.#ring = { kind: 'none', rules: overridden, readHeader: readRingKey };
    this.#override = { kind: keys.override ? 'override' : 'none', rules: overridden, readHeader: readListedKey };
  }

  of({ facts: { pins } }: Policy): Stickiness {
    return pins === 'override' ? this.#override : pins === 'own' ? this.#manual : this.#ring;
  }

  /** What stored a pin under this name. */
  ofPin(pinKey: string): Stickiness {
    return isManualPinKey(pinKey) ? this.#manual : this.#override;
  }
}

/** As SMG: only a key that the override delegated stays where it went, all others return (sticky-sessions 3.6, 3.7). */
function writeModeOf(failback: Failback, delegated: boolean): WriteMode {
  if (failback === 'as-smg') return delegated ? 'front' : 'behind';
  return failback === 'never' ? 'front' : 'behind';
}
