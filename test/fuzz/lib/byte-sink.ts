/** Where generators write. It is used again for every input. */
export class ByteSink {
  #bytes = Buffer.alloc(64 * 1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  clear(): this {
    this.#length = 0;
    return this;
  }

  byte(value: number): this {
    this.#room(1);
    this.#bytes[this.#length++] = value;
    return this;
  }

  /** Big-endian. */
  uint(value: number, bytes: number): this {
    for (let shift = (bytes - 1) * 8; shift >= 0; shift -= 8) this.byte(Math.floor(value / 2 ** shift));
    return this;
  }

  text(text: string): this {
    this.#room(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length);
    return this;
  }

  bytes(bytes: Uint8Array): this {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** A copy of what was written from `start` on. */
  since(start: number): Buffer {
    return Buffer.from(this.#bytes.subarray(start, this.#length));
  }

  /** Takes back what was written from `start` on. */
  cutTo(start: number): this {
    this.#length = start;
    return this;
  }

  done(): Buffer {
    return this.since(0);
  }

  #room(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.alloc(2 * (this.#length + count));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}
