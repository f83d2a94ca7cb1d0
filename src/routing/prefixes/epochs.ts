/** The order of uses: each takes the next number, beginning with 0 (policies 1.6.5). Trees may share one. */
export class Epochs {
  #next = 0;

  next(): number {
    return this.#next++;
  }
}
