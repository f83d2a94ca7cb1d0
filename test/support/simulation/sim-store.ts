import type { PinChange } from '../../../src/pins/shared/pin-backend.ts';
import { type ModelCopy, ModelPins } from '../model-pin-backend.ts';
import type { SimClock } from './sim-clock.ts';

/** `stopped`: connections stay, nothing is answered, and all that came is carried out when it goes on. */
export type StoreMode = 'well' | 'slow' | 'stopped' | 'killed';

/** The clock of the store: another one than that of the replicas. */
const STORE_EPOCH_MS = 1_700_000_000_000;
const COPIES = 64;

/** The server that replicas share: the model of its scripts, and what can happen to a server. */
export class SimStore {
  readonly pins: ModelPins;
  mode: StoreMode = 'well';
  /** What a call takes longer while it is slow. */
  slowMs = 0;
  /** Changes with its data. */
  epoch = 1;
  publish: (change: PinChange) => void = () => {};
  readonly #clock: SimClock;
  /** Of its clock, after a step. */
  #stepMs = 0;
  #backlog: (() => void)[] = [];
  /** What a server that follows it would hold, and since when. */
  readonly #copies: { readonly at: number; readonly copy: ModelCopy }[] = [];

  constructor(clock: SimClock) {
    this.#clock = clock;
    this.pins = new ModelPins(
      () => STORE_EPOCH_MS + this.#clock.now + this.#stepMs,
      (change) => this.publish(change),
    );
  }

  /** A call has arrived. */
  receive(run: () => void): void {
    if (this.mode === 'stopped') this.#backlog.push(run);
    else if (this.mode === 'slow') this.#clock.after(this.slowMs, () => this.mode !== 'killed' && run());
    else if (this.mode === 'well') run();
  }

  become(mode: StoreMode): void {
    this.mode = mode;
    const backlog = this.#backlog;
    if (mode === 'stopped') return;
    this.#backlog = [];
    if (mode !== 'killed') for (const run of backlog) run();
  }

  /** Something was written. */
  remember(): void {
    this.#copies.push({ at: this.#clock.now, copy: this.pins.copy() });
    if (this.#copies.length > COPIES) this.#copies.shift();
  }

  wipe(): void {
    this.pins.wipe();
    this.epoch++;
  }

  /** Another server takes its place, which lacks the last writes and has its own clock. */
  failOver(lostMs: number, stepMs: number): void {
    const had = this.#copies.findLast(({ at }) => at <= this.#clock.now - lostMs);
    if (had === undefined) this.pins.wipe();
    else this.pins.restore(had.copy);
    this.#stepMs = stepMs;
  }
}
