/** Messages of one call that wait for windows or for the socket, as ranges: nothing is copied. */
export class SendQueue {
  #parts: Uint8Array[] = [];
  /** Where the first part goes on. */
  #offset = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  /** Gives at most `count` bytes in at least one range, to `take`, in order; they leave the queue. */
  move(count: number, take: (range: Uint8Array) => void): void {
    let left = Math.min(count, this.#bytes);
    this.#bytes -= left;
    let index = 0;
    while (left > 0) {
      const part = this.#parts[index];
      if (part === undefined) return;
      const size = Math.min(left, part.length - this.#offset);
      take(part.subarray(this.#offset, this.#offset + size));
      left -= size;
      this.#offset += size;
      if (this.#offset === part.length) {
        this.#offset = 0;
        index += 1;
      }
    }
    if (index > 0) this.#parts.splice(0, index);
  }

  clear(): void {
    this.#parts = [];
    this.#offset = 0;
    this.#bytes = 0;
  }
}
