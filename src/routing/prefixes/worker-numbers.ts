/** A number that stood for a worker which has left. */
interface Released {
  readonly number: number;
  readonly at: number;
}

/**
 * Small numbers that stand for workers, so that what many entries say of a worker takes four bytes each and ends for all of
 * them with one write. A number is given to another worker only when no entry of the first one can count any more.
 */
export class WorkerNumbers {
  readonly #restMs: number;
  readonly #numbers = new Map<string, number>();
  /** Id by number; null once it was released. */
  readonly #ids: (string | null)[] = [];
  /** In the order of their release. */
  readonly #released: Released[] = [];

  /** @param restMs how long entries may go on naming a released number, in milliseconds */
  constructor(restMs: number) {
    this.#restMs = restMs;
  }

  of(id: string, now: number): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const rested = this.#released[0];
    let number = this.#ids.length;
    if (rested !== undefined && now - rested.at > this.#restMs) {
      this.#released.shift();
      number = rested.number;
    }
    this.#ids[number] = id;
    this.#numbers.set(id, number);
    return number;
  }

  /** Null for a number that stands for nobody. */
  idOf(number: number): string | null {
    return number < 0 ? null : (this.#ids[number] ?? null);
  }

  release(id: string, now: number): void {
    const number = this.#numbers.get(id);
    if (number === undefined) return;
    this.#numbers.delete(id);
    this.#ids[number] = null;
    this.#released.push({ number, at: now });
  }
}
