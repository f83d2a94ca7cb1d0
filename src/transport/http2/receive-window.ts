/**
 * What the peer may send, for a stream or the connection (RFC 9113 6.9). Bytes count as taken when they came: they are either
 * handled at once or part of a message whose size is limited. They are given back in portions of half a window.
 */
export class ReceiveWindow {
  readonly #size: number;
  #left: number;
  #owed = 0;

  constructor(size: number) {
    this.#size = size;
    this.#left = size;
  }

  /** So much came; false: more than was allowed. */
  take(bytes: number): boolean {
    this.#left -= bytes;
    this.#owed += bytes;
    return this.#left >= 0;
  }

  /** Bytes for a WINDOW_UPDATE, 0 while it is not worth one. */
  due(): number {
    const bytes = this.#owed;
    if (bytes * 2 < this.#size) return 0;
    this.#owed = 0;
    this.#left += bytes;
    return bytes;
  }
}
