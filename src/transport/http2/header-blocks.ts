import type { Http2Limits, LimitName } from './limits.ts';

const NONE = Buffer.alloc(0);

/** A header block that comes in several frames (RFC 9113 4.3). One at a time: no other frame may come between. */
export class HeaderBlocks {
  readonly #limits: Http2Limits;
  #streamId = 0;
  #flags = 0;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(limits: Http2Limits) {
    this.#limits = limits;
  }

  /** Stream of the block that has not ended, 0 without one. */
  get streamId(): number {
    return this.#streamId;
  }

  /** Flags of the HEADERS frame. */
  get flags(): number {
    return this.#flags;
  }

  /** Begins with a fragment, of which a copy is kept. */
  begin(streamId: number, flags: number, fragment: Buffer): LimitName | null {
    this.#streamId = streamId;
    this.#flags = flags;
    this.#parts = [];
    this.#bytes = 0;
    return this.add(fragment);
  }

  /** The limit that the block has reached, null for none. */
  add(fragment: Buffer): LimitName | null {
    this.#bytes += fragment.length;
    if (this.#bytes > this.#limits.headerBlockBytes) return 'header_block';
    if (this.#parts.length > this.#limits.continuations) return 'continuations';
    this.#parts.push(Buffer.from(fragment));
    return null;
  }

  /** The whole block; none is kept afterwards. */
  take(): Buffer {
    const [first] = this.#parts;
    const block = this.#parts.length > 1 ? Buffer.concat(this.#parts, this.#bytes) : (first ?? NONE);
    this.#streamId = 0;
    this.#parts = [];
    return block;
  }
}
