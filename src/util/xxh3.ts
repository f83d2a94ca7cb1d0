import { createXXHash3, type IHasher } from 'hash-wasm';

/** An unsigned 64-bit number as two halves, since a BigInt costs more than the hash. */
export interface Halves {
  readonly high: number;
  readonly low: number;
}

/**
 * XXH3 with 64 bits of result, the hash of SMG's prefix keys, placement index and cache namespaces (policies 1.6.7, 1.6.9,
 * 1.7). Bit-exact with the reference (policies 1.8). Hot path.
 */
export class Xxh3 {
  readonly #hasher: IHasher;

  private constructor(hasher: IHasher) {
    this.#hasher = hasher;
  }

  /** @param seed unsigned 32-bit number; SMG seeds with 0, and with 1337 in its event index */
  static async create(seed: number): Promise<Xxh3> {
    return new Xxh3(await createXXHash3(seed, 0));
  }

  /** 16 lower-case hex digits. */
  hex(bytes: Uint8Array): string {
    return this.#hasher.init().update(bytes).digest('hex');
  }

  halves(bytes: Uint8Array): Halves {
    const hash = this.#hasher.init().update(bytes).digest('binary');
    return { high: uint32At(hash, 0), low: uint32At(hash, 4) };
  }
}

/** Made once while modules load; it keeps its state between calls, and no call of it spans a turn. */
const unseeded = await Xxh3.create(0);

/** XXH3-64 with seed 0 as 16 lower-case hex digits. */
export function xxh3(bytes: Uint8Array): string {
  return unseeded.hex(bytes);
}

/** XXH3-64 with seed 0. */
export function xxh3Halves(bytes: Uint8Array): Halves {
  return unseeded.halves(bytes);
}

/** Big-endian: the canonical form of the hash begins with its highest byte. */
function uint32At(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}
