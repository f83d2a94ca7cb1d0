import { messageOf } from '../../util/app-error.ts';
import { type LookUp, NameResolver, systemLookUp } from '../../workers/name-resolver.ts';
import type { DiscoveryObserver, RunningSource, SourceHealth, WorkerSink } from '../source.ts';
import { SourceState } from '../source-state.ts';
import { type NamePool, workersAt } from './name-pool.ts';

/** Who declares names. */
export type PoolOwner = 'flags' | 'file' | 'api' | 'workers_file';

interface FollowedPool {
  pool: NamePool;
  readonly owner: PoolOwner;
  /** Found last; a name that cannot be resolved keeps them. */
  addresses: readonly string[];
  /** Ends the look-ups. */
  unfollow: () => void;
}

export interface DnsSourceOptions {
  readonly sink: WorkerSink;
  readonly observer: DiscoveryObserver;
  readonly lookUp?: LookUp;
  /** Time between look-ups of a name. */
  readonly intervalMs?: number;
}

/**
 * Workers from DNS names: one at each address. A name is looked up again and again; an address that is gone from the
 * answer is drained and removed. No answer, and an answer without addresses, change nothing: a resolver that is broken
 * must not empty the fleet, and a worker that is really gone fails its health checks.
 */
export class DnsSource implements RunningSource {
  readonly name = 'dns';
  readonly #state: SourceState;
  readonly #observer: DiscoveryObserver;
  readonly #resolver: NameResolver;
  readonly #pools = new Map<string, FollowedPool>();
  /** Why a name cannot be resolved, by host. */
  readonly #problems = new Map<string, string>();

  constructor({ sink, observer, lookUp = systemLookUp, intervalMs }: DnsSourceOptions) {
    this.#state = new SourceState('dns', sink, observer);
    this.#observer = observer;
    this.#resolver = new NameResolver({
      ...(intervalMs === undefined ? {} : { intervalMs }),
      lookUp: (host) => this.#lookUp(host, lookUp),
    });
  }

  get health(): SourceHealth {
    return this.#state.health;
  }

  get problem(): string | null {
    return this.#state.problem;
  }

  /** True while there is a name to look up. */
  get used(): boolean {
    return this.#pools.size > 0;
  }

  /** Makes the names of one owner what `pools` says. Answers with those that another owner, or an earlier line, has. */
  replace(owner: PoolOwner, pools: readonly NamePool[]): readonly string[] {
    const conflicts: string[] = [];
    const wanted = new Set<string>();
    for (const pool of pools) {
      const there = this.#pools.get(pool.id);
      if (wanted.has(pool.id) || (there !== undefined && there.owner !== owner)) {
        conflicts.push(pool.id);
        continue;
      }
      wanted.add(pool.id);
      if (there === undefined) this.#follow(pool, owner);
      else there.pool = pool;
    }
    for (const [id, followed] of this.#pools) {
      if (followed.owner === owner && !wanted.has(id)) this.#drop(id, followed);
    }
    this.#tell();
    return conflicts;
  }

  /** One more name, of the admin API; false when it is known. */
  add(pool: NamePool): boolean {
    if (this.#pools.has(pool.id)) return false;
    this.#follow(pool, 'api');
    return true;
  }

  /** False when the name is not known. */
  remove(id: string): boolean {
    const followed = this.#pools.get(id);
    if (followed === undefined) return false;
    this.#drop(id, followed);
    this.#tell();
    return true;
  }

  /** Ids of the workers of a name; undefined when it is not known. */
  workersOf(id: string): readonly string[] | undefined {
    const followed = this.#pools.get(id);
    return followed && workersAt(followed.pool, followed.addresses).map(({ spec }) => spec.url.id);
  }

  reconcile(): void {
    this.#state.repeat();
  }

  close(): void {
    this.#resolver.close();
  }

  #follow(pool: NamePool, owner: PoolOwner): void {
    const followed: FollowedPool = { pool, owner, addresses: [], unfollow: () => {} };
    this.#pools.set(pool.id, followed);
    const { host } = pool.template.url;
    followed.unfollow = this.#resolver.follow(host, (addresses) => {
      if (!this.#problems.has(host)) followed.addresses = addresses;
      this.#tell();
    });
  }

  #drop(id: string, { pool, unfollow }: FollowedPool): void {
    unfollow();
    this.#pools.delete(id);
    this.#problems.delete(pool.template.url.host);
  }

  async #lookUp(host: string, lookUp: LookUp): Promise<readonly string[]> {
    let problem: string | null = null;
    try {
      const addresses = await lookUp(host);
      if (addresses.length === 0) problem = `${host} has no address`;
      return addresses;
    } catch (error) {
      problem = `${host} cannot be resolved: ${messageOf(error)}`;
      throw error;
    } finally {
      if (problem === null) {
        this.#problems.delete(host);
      } else {
        this.#problems.set(host, problem);
        this.#observer.failed('dns', problem);
      }
    }
  }

  #tell(): void {
    const pools = [...this.#pools.values()];
    if (pools.length === 0 && this.#state.health === 'unread') return;
    const [problem] = this.#problems.values();
    if (problem !== undefined) this.#state.stale(problem);
    if (pools.some(({ addresses }) => addresses.length > 0) || this.#state.health !== 'unread') {
      this.#state.say(pools.flatMap(({ pool, addresses }) => workersAt(pool, addresses)));
    }
    if (problem === undefined && pools.every(({ addresses }) => addresses.length > 0)) this.#state.live();
  }
}
