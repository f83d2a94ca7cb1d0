/**
 * How the counts of load keys on one worker differ from what other replicas were told of them.
 *
 * A rise is told only once it has lasted for a whole interval, a fall at once. So turns of one conversation that follow each
 * other closely at several replicas are never taken for requests at the same time: of those before the last at most one is still
 * believed to run (the trigger of sticky-sessions 3.9 is two), and short ones are never told of.
 *
 * A request only leaves its key here; what that comes to is reckoned when it is time to tell.
 */
export class KeyChanges {
  #added: string[] = [];
  #removed: string[] = [];
  #young = new Map<string, number>();
  #ripe = new Map<string, number>();
  #falls = new Map<string, number>();

  /** Something may be to tell, now or later. */
  get pending(): boolean {
    return this.#added.length + this.#removed.length + this.#young.size + this.#ripe.size + this.#falls.size > 0;
  }

  added(loadKey: string): void {
    this.#added.push(loadKey);
  }

  removed(loadKey: string): void {
    this.#removed.push(loadKey);
  }

  /** Hands out the falls, by key. */
  takeFalls(): ReadonlyMap<string, number> {
    this.#reckon();
    const falls = this.#falls;
    if (falls.size > 0) this.#falls = new Map();
    return falls;
  }

  /** Hands out the rises that have lasted since the call before, by key. */
  takeRises(): ReadonlyMap<string, number> {
    this.#reckon();
    const rises = this.#ripe;
    this.#ripe = this.#young;
    this.#young = new Map();
    return rises;
  }

  #reckon(): void {
    const added = this.#added;
    const removed = this.#removed;
    if (added.length > 0) this.#added = [];
    if (removed.length > 0) this.#removed = [];
    // One that was told of and has ended may have a successor: then nothing has changed for others.
    for (const key of added) if (!takeOne(this.#falls, key)) addOne(this.#young, key);
    for (const key of removed) {
      if (!takeOne(this.#young, key) && !takeOne(this.#ripe, key)) addOne(this.#falls, key);
    }
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
