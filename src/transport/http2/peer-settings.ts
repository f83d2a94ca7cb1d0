import { DEFAULT_FRAME_BYTES, DEFAULT_WINDOW, ErrorCode, MAX_31_BITS, Setting } from './codes.ts';

const ENTRY_BYTES = 6;
const MAX_FRAME_BYTES = 0xff_ffff;

/** What the peer said of itself (RFC 9113 6.5). */
export class PeerSettings {
  initialWindow = DEFAULT_WINDOW;
  frameBytes = DEFAULT_FRAME_BYTES;

  /** Takes the payload of a SETTINGS frame; an error code when it is wrong, null when it is not. */
  take(bytes: Buffer, from: number, to: number): ErrorCode | null {
    for (let at = from; at < to; at += ENTRY_BYTES) {
      const value = bytes.readUInt32BE(at + 2);
      switch (bytes.readUInt16BE(at)) {
        case Setting.enablePush:
          if (value > 1) return ErrorCode.protocolError;
          break;
        case Setting.initialWindowSize:
          if (value > MAX_31_BITS) return ErrorCode.flowControlError;
          this.initialWindow = value;
          break;
        case Setting.maxFrameSize:
          if (value < DEFAULT_FRAME_BYTES || value > MAX_FRAME_BYTES) return ErrorCode.protocolError;
          this.frameBytes = value;
          break;
        default:
        // The rest concerns what we never send: other streams than answers, and a compression table.
      }
    }
    return null;
  }
}
