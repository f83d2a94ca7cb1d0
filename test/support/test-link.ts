import type { PinChange, StoreLink, StoreState } from '../../src/pins/shared/pin-backend.ts';

/** A way to the store that goes as a test says. */
export class TestLink implements StoreLink {
  readonly #onState = new Set<(state: StoreState) => void>();
  readonly #onChange = new Set<(change: PinChange) => void>();
  readonly #onGap = new Set<() => void>();
  readonly waits: number[] = [];
  failures = 0;
  #state: StoreState = 'up';

  get state(): StoreState {
    return this.#state;
  }

  set state(state: StoreState) {
    this.#state = state;
    for (const listener of this.#onState) listener(state);
  }

  answered(ms: number): void {
    this.waits.push(ms);
  }

  failed(): void {
    this.failures++;
  }

  change(change: PinChange): void {
    for (const listener of this.#onChange) listener(change);
  }

  gap(): void {
    for (const listener of this.#onGap) listener();
  }

  onState(listener: (state: StoreState) => void): () => void {
    this.#onState.add(listener);
    return () => this.#onState.delete(listener);
  }

  onChange(listener: (change: PinChange) => void): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  onGap(listener: () => void): () => void {
    this.#onGap.add(listener);
    return () => this.#onGap.delete(listener);
  }
}
