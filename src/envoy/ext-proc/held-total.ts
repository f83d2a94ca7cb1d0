/** Bytes of all bodies that streams hold back at one moment, and how many there may be. */
export class HeldTotal {
  readonly #limitBytes: number;
  #byteLength = 0;

  /** The limit is passed by at most one message of each stream. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get full(): boolean {
    return this.#byteLength >= this.#limitBytes;
  }

  add(bytes: number): void {
    this.#byteLength += bytes;
  }

  remove(bytes: number): void {
    this.#byteLength -= bytes;
  }
}
