/** Messages of less come out of Node's pool, whose size is another one in each version. */
const SMALL_BYTES = 4096;
/** Messages of less are left to the garbage collector, which hardly notices them. */
const LEAST_BYTES = 64 * 1024;
/** So much of what nobody uses is kept for the next messages. */
const KEPT_BYTES = 16 * 1024 * 1024;

/**
 * Memory of long messages, used again and again: V8 collects all garbage each time that so many megabytes outside of its heap
 * were taken, which cost several times what was done with a prompt. Sizes are powers of two.
 */
export class MessageMemory {
  readonly #free = new Map<number, ArrayBuffer[]>();
  /** What is in use, so that nothing is given back twice, nor what is not ours. */
  readonly #lent = new WeakSet<ArrayBufferLike>();
  #freeBytes = 0;

  /** Bytes that wait for their next use. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** Memory of `length` bytes, with anything in it. */
  take(length: number): Buffer {
    if (length < SMALL_BYTES) return Buffer.allocUnsafe(length);
    if (length < LEAST_BYTES || length > KEPT_BYTES) return Buffer.allocUnsafeSlow(length);
    const size = 2 ** Math.ceil(Math.log2(length));
    const kept = this.#free.get(size)?.pop();
    if (kept !== undefined) this.#freeBytes -= size;
    const memory = kept ?? new ArrayBuffer(size);
    this.#lent.add(memory);
    return Buffer.from(memory, 0, length);
  }

  /** Nobody reads these bytes any more. Does nothing with memory that did not come from here. */
  release(bytes: Buffer): void {
    if (bytes.length < LEAST_BYTES) return;
    const memory = bytes.buffer;
    if (!(memory instanceof ArrayBuffer) || !this.#lent.delete(memory)) return;
    const size = memory.byteLength;
    if (this.#freeBytes + size > KEPT_BYTES) return;
    this.#freeBytes += size;
    const same = this.#free.get(size);
    if (same === undefined) this.#free.set(size, [memory]);
    else same.push(memory);
  }
}
