/** Stands for every value over the cap (policies 8.3). */
export const OVERFLOW_LABEL = 'other';

export const MAX_REQUEST_LABELS = 1024;

/** Bounds the distinct values of one label that clients choose; first come, first kept. */
export class LabelCap {
  readonly #limit: number;
  readonly #kept = new Set<string>();

  constructor(limit: number = MAX_REQUEST_LABELS) {
    this.#limit = limit;
  }

  /** The value itself if it is or becomes one of the kept ones, `other` if there is no room left. */
  admit(value: string): string {
    if (this.#kept.has(value)) return value;
    if (this.#kept.size >= this.#limit) return OVERFLOW_LABEL;
    this.#kept.add(value);
    return value;
  }
}

/** One cap per label name, shared by all metrics, so that a model has its own series everywhere or nowhere. */
export class LabelCaps {
  readonly #limit: number;
  readonly #byName = new Map<string, LabelCap>();

  constructor(limit: number = MAX_REQUEST_LABELS) {
    this.#limit = limit;
  }

  of(labelName: string): LabelCap {
    let cap = this.#byName.get(labelName);
    if (cap === undefined) {
      cap = new LabelCap(this.#limit);
      this.#byName.set(labelName, cap);
    }
    return cap;
  }
}
