/** A body that is kept until it can be given back: a list of pieces, joined at most once (envoy 1, rule 16). */
export class HeldBody {
  #pieces: Buffer[] = [];
  #byteLength = 0;

  get byteLength(): number {
    return this.#byteLength;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#byteLength += piece.length;
  }

  /** All of it in one piece. */
  joined(): Buffer {
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.#byteLength);
  }

  /** The pieces as they came; nothing is held afterwards. */
  take(): readonly Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#byteLength = 0;
    return pieces;
  }
}
