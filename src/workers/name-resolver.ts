import { lookup } from 'node:dns/promises';

/** Answers with the addresses of a name; rejects with the codes of `node:dns`. */
export type LookUp = (name: string) => Promise<readonly string[]>;

export interface NameResolverOptions {
  /** Time between look-ups of a followed name. */
  readonly intervalMs?: number;
  readonly lookUp?: LookUp;
}

/** One followed name. */
interface Followed {
  addresses: readonly string[];
  readonly listeners: Set<(addresses: readonly string[]) => void>;
  running: Promise<void> | null;
}

/**
 * Follows DNS names: looks each up at once, then periodically, and tells its listeners the addresses after every
 * look-up. The system's resolver is asked, so that its hosts file counts.
 */
export class NameResolver {
  readonly #lookUp: LookUp;
  readonly #names = new Map<string, Followed>();
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(options: NameResolverOptions = {}) {
    this.#lookUp = options.lookUp ?? systemLookUp;
    this.#timer = setInterval(() => {
      for (const name of this.#names.keys()) void this.refresh(name);
    }, options.intervalMs ?? 5_000);
  }

  /** Calls `listener` after each look-up of `name`. Answers with the undo. */
  follow(name: string, listener: (addresses: readonly string[]) => void): () => void {
    const followed = this.#names.get(name) ?? { addresses: [], listeners: new Set(), running: null };
    this.#names.set(name, followed);
    followed.listeners.add(listener);
    void this.refresh(name);
    return () => {
      followed.listeners.delete(listener);
      if (followed.listeners.size === 0) this.#names.delete(name);
    };
  }

  /** Addresses found last, IPv4 first; empty when the name is not followed or resolves to nothing. */
  addresses(name: string): readonly string[] {
    return this.#names.get(name)?.addresses ?? [];
  }

  /** Looks a followed name up now; resolves when the listeners were told. Look-ups of one name never overlap. */
  refresh(name: string): Promise<void> {
    const followed = this.#names.get(name);
    if (followed === undefined || this.#closed) return Promise.resolve();
    followed.running ??= this.#ask(name, followed).finally(() => {
      followed.running = null;
    });
    return followed.running;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#names.clear();
  }

  async #ask(name: string, followed: Followed): Promise<void> {
    try {
      followed.addresses = await this.#lookUp(name);
    } catch (error) {
      // Only a definite answer takes an address away: a resolver that is down says nothing of the worker.
      if (isDefinite(error)) followed.addresses = [];
    }
    if (this.#closed) return;
    for (const listener of [...followed.listeners]) listener(followed.addresses);
  }
}

/** The address to use: `current` while the name still has it, so that a rotating answer moves nobody. */
export function chooseAddress(addresses: readonly string[], current: string): string {
  return addresses.includes(current) ? current : (addresses[0] ?? '');
}

/** The address after `current`, for a worker that does not answer there. */
export function nextAddress(addresses: readonly string[], current: string): string {
  return addresses[(addresses.indexOf(current) + 1) % addresses.length] ?? '';
}

/** IPv4 first: most engines listen there only. */
export async function systemLookUp(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  return found.sort((a, b) => a.family - b.family).map((entry) => entry.address);
}

function isDefinite(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOTFOUND' || code === 'ENODATA';
}
