/** Who wants to be told of something. Who comes while it is told is told from the next time on. */
export class Listeners<Args extends readonly unknown[]> {
  readonly #all = new Set<(...args: Args) => void>();

  /** Answers with the undo. */
  add(listener: (...args: Args) => void): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  tell(...args: Args): void {
    for (const listener of [...this.#all]) listener(...args);
  }

  clear(): void {
    this.#all.clear();
  }
}
