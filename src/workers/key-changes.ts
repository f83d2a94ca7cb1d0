/**
 * How the counts of load keys on one worker differ from what other replicas were told of them.
 *
 * A rise is told only once it has lasted for a whole interval, a fall at once. So turns of one conversation that follow each
 * other closely at several replicas are never taken for requests at the same time: of those before the last at most one is still
 * believed to run (the trigger of sticky-sessions 3.9 is two), and short ones are never told of.
 */
export class KeyChanges {
  #young = new Map<string, number>();
  #ripe = new Map<string, number>();
  #falls = new Map<string, number>();

  /** Something is to be told now or later. */
  get pending(): boolean {
    return this.#young.size > 0 || this.#ripe.size > 0 || this.#falls.size > 0;
  }

  get hasFalls(): boolean {
    return this.#falls.size > 0;
  }

  added(loadKey: string): void {
    // One that ended and was told of has a successor: nothing has changed for others.
    if (!takeOne(this.#falls, loadKey)) addOne(this.#young, loadKey);
  }

  removed(loadKey: string): void {
    if (!takeOne(this.#young, loadKey) && !takeOne(this.#ripe, loadKey)) addOne(this.#falls, loadKey);
  }

  /** Hands out the falls, by key. */
  takeFalls(): ReadonlyMap<string, number> {
    const falls = this.#falls;
    if (falls.size > 0) this.#falls = new Map();
    return falls;
  }

  /** Hands out the rises that have lasted since the call before, by key. */
  takeRises(): ReadonlyMap<string, number> {
    const rises = this.#ripe;
    this.#ripe = this.#young;
    this.#young = new Map();
    return rises;
  }
}

function addOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** False when there is none to take. */
function takeOne(counts: Map<string, number>, key: string): boolean {
  if (counts.size === 0) return false;
  const count = counts.get(key);
  if (count === undefined) return false;
  if (count === 1) counts.delete(key);
  else counts.set(key, count - 1);
  return true;
}
