import { Dice } from './dice.ts';
import { isCalm, type Traits } from './traits.ts';

const KINDS = [
  'turn',
  'crash',
  'worker dies',
  'cap',
  'admin move',
  'delete',
  'fetch',
  'subscription breaks',
  'store killed',
  'store stopped',
  'store slow',
  'replica cut off',
  'wipe',
  'failover',
  'key evicted',
] as const;
export type ActKind = (typeof KINDS)[number];

/** One thing that happens. Which replica, conversation or worker it is about follows from `dice`, when it happens. */
export interface Act {
  /** Its place in the whole schedule, which stays when others are left out. */
  readonly index: number;
  readonly at: number;
  readonly kind: ActKind;
  readonly conversation: number;
  /** Numbers in [0, 1) to decide the rest. */
  readonly dice: readonly [number, number, number];
}

/** All that happens in the run of a seed, in order. */
export function actsOf(seed: number, traits: Traits): Act[] {
  const dice = new Dice(seed * 2 + 2);
  const faults = faultsOf(traits);
  const acts: Omit<Act, 'index'>[] = [];
  const add = (at: number, kind: ActKind, conversation = dice.below(traits.conversations)): void => {
    acts.push({ at, kind, conversation, dice: [dice.next(), dice.next(), dice.next()] });
  };
  // While a replica finds out that it must not wait any more, turns come to it one upon the other.
  const crowd = (at: number): void => {
    for (let i = 0; i < 8; i++) {
      const conversation = dice.below(traits.conversations);
      acts.push({ at: at + dice.between(0, 250), kind: 'turn', conversation, dice: [dice.next(), 0, 0] });
    }
  };
  // Some moments are crowded, since faults come from things that happen together.
  const moments = Array.from({ length: 1 + dice.below(4) }, () => dice.between(0, traits.spanMs));
  while (acts.length < traits.acts) {
    const near = dice.pick(moments) + dice.between(-60, 60);
    const at = dice.chance(0.5) ? Math.max(0, near) : dice.between(0, traits.spanMs);
    if (faults.length > 0 && dice.chance(0.3)) {
      const fault = dice.pick(faults);
      add(at, fault);
      if ((fault === 'store stopped' || fault === 'store slow') && dice.chance(0.5)) crowd(at);
      continue;
    }
    const conversation = dice.below(traits.conversations);
    add(at, 'turn', conversation);
    if (dice.chance(0.3)) add(at + dice.between(0, 30), 'turn', conversation);
    // About when the pin ends, here and in the store.
    if (traits.maxIdleMs > 0 && dice.chance(0.3)) {
      const idle = traits.maxIdleMs * dice.between(0.9, 1.15);
      add(at + idle, 'turn', conversation);
      add(at + idle + traits.maxIdleMs * dice.between(0, 0.1), 'turn', conversation);
    }
  }
  return acts.sort((a, b) => a.at - b.at).map((act, index) => ({ ...act, index }));
}

function faultsOf(traits: Traits): ActKind[] {
  const faults: ActKind[] = [];
  if (traits.crashes) faults.push('crash');
  if (traits.workerDeaths) faults.push('worker dies');
  if (traits.caps) faults.push('cap');
  if (traits.adminMoves) faults.push('admin move', 'fetch');
  if (traits.deletes) faults.push('delete');
  if (traits.brokenSubscriptions) faults.push('subscription breaks');
  if (traits.outages) faults.push('store killed', 'store stopped', 'store slow', 'replica cut off');
  if (traits.losses) faults.push('key evicted', 'wipe');
  if (traits.losses && !isCalm(traits)) faults.push('failover');
  return faults;
}
