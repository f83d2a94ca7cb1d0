import { createXXHash3, type IHasher } from 'hash-wasm';

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
}

/** Made once while modules load; it keeps its state between calls, and no call of it spans a turn. */
const unseeded = await Xxh3.create(0);

/** XXH3-64 with seed 0 as 16 lower-case hex digits. */
export function xxh3(bytes: Uint8Array): string {
  return unseeded.hex(bytes);
}

/** The same of the first `count` token ids as little-endian bytes, which is how every platform that Node runs this on keeps them. */
export function xxh3OfIds(ids: Uint32Array, count: number): string {
  return unseeded.hex(new Uint8Array(ids.buffer, ids.byteOffset, count * Uint32Array.BYTES_PER_ELEMENT));
}
