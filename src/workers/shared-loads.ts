import { KeyChanges } from './key-changes.ts';
import { LoadCounter, type LoadListener } from './load-counter.ts';
import { type LoadKeyHash, PUBLIC_HASH } from './load-key-hash.ts';
import { RemoteShare } from './remote-share.ts';

/** Gives the instances of a fleet their counters. */
export interface LoadTable {
  /** A counter for a new instance of a worker. */
  counterFor(workerId: string): LoadCounter;
  /** The instance left the fleet. Its requests may still run. */
  retired(workerId: string, counter: LoadCounter): void;
}

/** Where replicas share nothing. */
export const LOCAL_LOADS: LoadTable = {
  counterFor: () => new LoadCounter(),
  retired: () => undefined,
};

/** One worker in a fleet whose replicas share their counts: what the others have, and what they are to be told. */
export class SharedLoad implements LoadListener {
  readonly workerId: string;
  readonly remote: RemoteShare;
  readonly #queue: (load: SharedLoad) => void;
  #own: LoadCounter | null = null;
  #keys = new KeyChanges();
  #retired = false;
  #renewed = false;
  /** Kept by the table. */
  queued = false;

  constructor(workerId: string, hash: LoadKeyHash, queue: (load: SharedLoad) => void) {
    this.workerId = workerId;
    this.remote = new RemoteShare(hash);
    this.#queue = queue;
  }

  /** Counter of the present instance; null while this replica has none. */
  get own(): LoadCounter | null {
    return this.#own;
  }

  get keys(): KeyChanges {
    return this.#keys;
  }

  /** Nothing is known of it here or elsewhere. */
  get isIdle(): boolean {
    const gone = this.#own === null || (this.#retired && this.#own.ownRequests === 0);
    return gone && !this.queued && this.remote.isEmpty;
  }

  /** What an earlier instance has in flight counts no more. */
  begin(): LoadCounter {
    this.#own = new LoadCounter(this.remote, this);
    this.#keys = new KeyChanges();
    this.#retired = false;
    this.#renewed = true;
    this.#queue(this);
    return this.#own;
  }

  /** True once after `begin`: what was told of keys is about an earlier instance. */
  takeRenewal(): boolean {
    const renewed = this.#renewed;
    this.#renewed = false;
    return renewed;
  }

  retire(counter: LoadCounter): void {
    if (counter === this.#own) this.#retired = true;
  }

  /** It leaves the table: a counter that is still held somewhere tells of nothing any more. */
  detach(): void {
    this.#own = null;
  }

  added(counter: LoadCounter, loadKey: string | null): void {
    if (counter !== this.#own) return;
    if (loadKey !== null) this.#keys.added(loadKey);
    if (!this.queued) this.#queue(this);
  }

  removed(counter: LoadCounter, loadKey: string | null): void {
    if (counter !== this.#own) return;
    if (loadKey !== null) this.#keys.removed(loadKey);
    if (!this.queued) this.#queue(this);
  }
}

/** The workers whose counts this replica shares with others, and which of them have changed. */
export class SharedLoads implements LoadTable {
  readonly #byWorker = new Map<string, SharedLoad>();
  readonly #changed: SharedLoad[] = [];
  /** By what replicas speak of keys. */
  readonly hash: LoadKeyHash;
  /** Called when there is something to tell after there was nothing. On the path of a request: must be short. */
  onChange: () => void = () => undefined;

  constructor(hash: LoadKeyHash = PUBLIC_HASH) {
    this.hash = hash;
  }

  counterFor(workerId: string): LoadCounter {
    return this.of(workerId).begin();
  }

  retired(workerId: string, counter: LoadCounter): void {
    this.#byWorker.get(workerId)?.retire(counter);
  }

  /** The worker of that id, be it of this fleet or only of another replica's. */
  of(workerId: string): SharedLoad {
    let load = this.#byWorker.get(workerId);
    if (load === undefined) {
      load = new SharedLoad(workerId, this.hash, (changed) => this.#queue(changed));
      this.#byWorker.set(workerId, load);
    }
    return load;
  }

  get size(): number {
    return this.#byWorker.size;
  }

  get hasChanges(): boolean {
    return this.#changed.length > 0;
  }

  /** Workers that have changed. They stay here until `settle`. */
  get changed(): readonly SharedLoad[] {
    return this.#changed;
  }

  /** The changes were told; a worker with more to tell later stays. */
  settle(): void {
    let kept = 0;
    for (const load of this.#changed) {
      if (load.keys.pending) this.#changed[kept++] = load;
      else load.queued = false;
    }
    this.#changed.length = kept;
  }

  /** Forgets workers that nobody has any more. */
  sweep(): void {
    for (const [workerId, load] of this.#byWorker) {
      if (!load.isIdle) continue;
      load.detach();
      this.#byWorker.delete(workerId);
    }
  }

  #queue(load: SharedLoad): void {
    if (load.queued) return;
    load.queued = true;
    this.#changed.push(load);
    if (this.#changed.length === 1) this.onChange();
  }
}
