/** Numbers of a seed (sfc32): the same seed draws the same. */
export class Random {
  #a: number;
  #b: number;
  #c = 0x9e3779b9;
  #count = 1;

  constructor(seed: number, stream = 0) {
    this.#a = seed | 0;
    this.#b = stream | 0;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** 32 bits. */
  next(): number {
    const sum = (this.#a + this.#b + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** 0 to `bound` - 1. */
  below(bound: number): number {
    return Math.floor((this.next() / 0x1_0000_0000) * bound);
  }

  /** True once in `odds`. */
  once(odds: number): boolean {
    return this.below(odds) === 0;
  }

  pick<T>(values: ArrayLike<T>): T {
    return values[this.below(values.length)] as T;
  }

  /** Mostly small, now and then up to `most`. */
  size(most: number): number {
    const bits = this.below(Math.ceil(Math.log2(most + 1)) + 1);
    return Math.min(most, this.below(2 ** bits));
  }
}
