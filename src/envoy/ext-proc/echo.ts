import { chunkBytes } from './chunk-bytes.ts';
import type { BodyPhase } from './message.ts';
import type { Outlet } from './outlet.ts';

/** Largest piece of an answered body: the peers' figure, below the 64 KB that gateways accept (endpoint-picker-protocol 1). */
export const CHUNK_BYTES = 62_000;

const EMPTY = Buffer.alloc(0);

/** Gives the body of one direction back to Envoy, which in full duplex forwards nothing but what we send (envoy 4.6). */
export class Echo {
  readonly #phase: BodyPhase;
  readonly #outlet: Outlet;

  constructor(phase: BodyPhase, outlet: Outlet) {
    this.#phase = phase;
    this.#outlet = outlet;
  }

  /** Sends bytes in pieces; `endOfStream` goes on the last one, and makes one even if there are no bytes. */
  send(bytes: Buffer, endOfStream: boolean): void {
    if (bytes.length === 0) {
      if (endOfStream) this.#piece(EMPTY, true);
      return;
    }
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      const to = Math.min(from + CHUNK_BYTES, bytes.length);
      this.#piece(bytes.subarray(from, to), endOfStream && to === bytes.length);
    }
  }

  /** Sends what was collected, in the pieces it came in. */
  sendAll(pieces: readonly Buffer[], endOfStream: boolean): void {
    let last = pieces.length - 1;
    while (last >= 0 && pieces[last]?.length === 0) last -= 1;
    for (let i = 0; i < last; i += 1) this.send(pieces[i] ?? EMPTY, false);
    this.send(pieces[last] ?? EMPTY, endOfStream);
  }

  #piece(bytes: Buffer, endOfStream: boolean): void {
    this.#outlet.send(this.#phase, chunkBytes(this.#phase, bytes, endOfStream));
  }
}
