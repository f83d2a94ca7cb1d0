import type { PinChange, StoreLink, StoreState } from '../../src/pins/shared/pin-backend.ts';
import { LinkEvents } from './link-events.ts';

/** A way to the store that goes as a test says. */
export class TestLink extends LinkEvents implements StoreLink {
  readonly waits: number[] = [];
  failures = 0;
  #state: StoreState = 'up';

  get state(): StoreState {
    return this.#state;
  }

  set state(state: StoreState) {
    this.#state = state;
    this.states.tell(state);
  }

  /** Of versions that the store can have given. */
  gave: (version: number) => boolean = () => true;

  answered(ms: number): void {
    this.waits.push(ms);
  }

  failed(): void {
    this.failures++;
  }

  change(change: PinChange): void {
    this.changes.tell(change);
  }

  gap(): void {
    this.gaps.tell();
  }
}
