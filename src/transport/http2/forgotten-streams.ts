const KEPT = 4096;

/**
 * The latest streams that we reset. What the peer sent before it heard of that is not its fault (RFC 9113 5.1, closed).
 */
export class ForgottenStreams {
  readonly #ids = new Set<number>();
  readonly #order: number[] = [];
  #next = 0;

  add(id: number): void {
    const oldest = this.#order[this.#next];
    if (oldest !== undefined) this.#ids.delete(oldest);
    this.#order[this.#next] = id;
    this.#ids.add(id);
    this.#next = (this.#next + 1) % KEPT;
  }

  has(id: number): boolean {
    return this.#ids.has(id);
  }
}
