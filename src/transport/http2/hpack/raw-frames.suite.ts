/** Frames of HTTP/2 (RFC 9113 4.1) for peers that a test plays itself. */

export interface RawFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

const HEAD_BYTES = 9;

export function rawFrame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** Cuts what a socket receives into frames. */
export class RawFrames {
  #rest = Buffer.alloc(0);
  #before: number;

  /** @param before bytes in front of the first frame */
  constructor(before: number) {
    this.#before = before;
  }

  add(piece: Buffer): RawFrame[] {
    this.#rest = Buffer.concat([this.#rest, piece]);
    const found: RawFrame[] = [];
    for (;;) {
      const rest = this.#rest.subarray(this.#before);
      if (rest.length < HEAD_BYTES) return found;
      const end = HEAD_BYTES + rest.readUIntBE(0, 3);
      if (rest.length < end) return found;
      found.push({
        type: rest.readUInt8(3),
        flags: rest.readUInt8(4),
        streamId: rest.readUInt32BE(5),
        payload: Buffer.from(rest.subarray(HEAD_BYTES, end)),
      });
      this.#rest = rest.subarray(end);
      this.#before = 0;
    }
  }
}
