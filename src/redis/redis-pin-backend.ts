import type { PinBackend, StoredPin, Written } from '../pins/shared/pin-backend.ts';
import { decodePin, encodeCandidates } from '../pins/shared/pin-record.ts';
import { readLua } from './lua-file.ts';
import type { StoreClient, StoreScript } from './store-client.ts';

const PRELUDE = 'stored-pin.lua';
const PUT = readLua(PRELUDE, 'put-pin-1.lua');
const OFFER = readLua(PRELUDE, 'offer-pin-1.lua');
const TOUCH = readLua(PRELUDE, 'touch-pin-1.lua');
const REMOVE = readLua(PRELUDE, 'remove-pin-1.lua');

/** Where changes of pins are published; `decodeChange` of pin-record.ts reads the messages. */
export function changesChannel(prefix: string): string {
  return `${prefix}:changes`;
}

export function pinKey(prefix: string, name: string): string {
  return `${prefix}:p:${name}`;
}

/** Shared pins in Redis 6 or newer, Valkey, or a Cluster of them: one string key for each, written by scripts of that key. */
export class RedisPinBackend implements PinBackend {
  readonly #client: StoreClient;
  readonly #prefix: string;
  readonly #channel: string;
  readonly #put: StoreScript;
  readonly #offer: StoreScript;
  readonly #touch: StoreScript;
  readonly #remove: StoreScript;

  constructor(client: StoreClient) {
    this.#client = client;
    this.#prefix = client.prefix;
    this.#channel = changesChannel(client.prefix);
    this.#put = client.script(PUT);
    this.#offer = client.script(OFFER);
    this.#touch = client.script(TOUCH);
    this.#remove = client.script(REMOVE);
  }

  put(name: string, candidates: readonly string[], expectedVersion: number, ttlMs: number): Promise<Written> {
    return this.#write(this.#put, name, candidates, expectedVersion, ttlMs);
  }

  offer(name: string, candidates: readonly string[], version: number, ttlMs: number): Promise<Written> {
    return this.#write(this.#offer, name, candidates, version, ttlMs);
  }

  async touch(name: string, ttlMs: number): Promise<StoredPin | null> {
    const value = await this.#touch([pinKey(this.#prefix, name)], [wholeMs(ttlMs)]);
    return value === null ? null : answeredPin(value);
  }

  async read(name: string): Promise<StoredPin | null> {
    try {
      const value = await this.#client.run('get', [pinKey(this.#prefix, name)]);
      return typeof value === 'string' ? decodePin(value) : null;
    } catch (error) {
      // Somebody else's value, which the scripts take for an absent key, too.
      if (error instanceof Error && error.message.startsWith('WRONGTYPE ')) return null;
      throw error;
    }
  }

  async remove(name: string): Promise<boolean> {
    return (await this.#remove([pinKey(this.#prefix, name)], [this.#channel, name])) === 1;
  }

  async #write(
    script: StoreScript,
    name: string,
    candidates: readonly string[],
    version: number,
    ttlMs: number,
  ): Promise<Written> {
    const args = [version, wholeMs(ttlMs), encodeCandidates(candidates), this.#channel, name];
    const answer = await script([pinKey(this.#prefix, name)], args);
    if (!Array.isArray(answer)) throw badAnswer();
    const pin = answeredPin(answer[1]);
    return { candidates: pin.candidates, version: pin.version, won: answer[0] === 1 };
  }
}

/** Redis takes no fractions; what is left of a key's time is never rounded to "never ends". */
function wholeMs(ttlMs: number): number {
  return Math.ceil(ttlMs);
}

function answeredPin(value: unknown): StoredPin {
  const pin = typeof value === 'string' ? decodePin(value) : null;
  if (pin === null) throw badAnswer();
  return pin;
}

function badAnswer(): Error {
  return new Error('a script of pins gave an answer that is none');
}
