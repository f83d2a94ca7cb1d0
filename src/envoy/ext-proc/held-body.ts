import type { HeldTotal } from './held-total.ts';

/** A body that is kept until it can be given back: a list of pieces, joined at most once (envoy 1, rule 16). */
export class HeldBody {
  readonly #total: HeldTotal;
  #pieces: Buffer[] = [];
  #byteLength = 0;

  constructor(total: HeldTotal) {
    this.#total = total;
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#byteLength += piece.length;
    this.#total.add(piece.length);
  }

  /** All of it in one piece, which is what is held from then on: a large body is not kept twice. */
  joined(): Buffer {
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only;
    const whole = Buffer.concat(this.#pieces, this.#byteLength);
    this.#pieces = [whole];
    return whole;
  }

  /** What was added; nothing is held afterwards. */
  take(): readonly Buffer[] {
    const pieces = this.#pieces;
    this.#total.remove(this.#byteLength);
    this.#pieces = [];
    this.#byteLength = 0;
    return pieces;
  }
}
