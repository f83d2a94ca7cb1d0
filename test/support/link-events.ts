import type { PinChange, StoreLink, StoreState } from '../../src/pins/shared/pin-backend.ts';
import { Listeners } from '../../src/util/listeners.ts';

/** Who listens to a way to the store that is played. */
export class LinkEvents implements Pick<StoreLink, 'onState' | 'onChange' | 'onGap'> {
  readonly states = new Listeners<[state: StoreState]>();
  readonly changes = new Listeners<[change: PinChange]>();
  readonly gaps = new Listeners<[]>();

  onState(listener: (state: StoreState) => void): () => void {
    return this.states.add(listener);
  }

  onChange(listener: (change: PinChange) => void): () => void {
    return this.changes.add(listener);
  }

  onGap(listener: () => void): () => void {
    return this.gaps.add(listener);
  }
}
