/** Lines of one kind come at most this often. */
const APART_MS = 10_000;

interface Kind {
  /** Since its last line. */
  times: number;
  toldAt: number;
}

/** Keeps lines of a log that repeat themselves apart. Pure: is told the time. */
export class LineLimit {
  readonly #kinds = new Map<string, Kind>();

  /** What a line of this kind tells has happened. */
  happened(kind: string): void {
    this.#of(kind).times += 1;
  }

  /**
   * Whether a line is due now, which it then counts as: how often it happened since the last one. 0: not yet.
   *
   * @param now milliseconds, of any clock
   */
  take(kind: string, now: number): number {
    const of = this.#of(kind);
    if (now - of.toldAt < APART_MS) return 0;
    const { times } = of;
    of.times = 0;
    if (times > 0) of.toldAt = now;
    return times;
  }

  #of(kind: string): Kind {
    let of = this.#kinds.get(kind);
    if (of === undefined) {
      of = { times: 0, toldAt: Number.NEGATIVE_INFINITY };
      this.#kinds.set(kind, of);
    }
    return of;
  }
}
