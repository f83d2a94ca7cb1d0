/** Names of what stands on the wire as numbers (RFC 9113 6 and 7). */

export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const Flag = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

export const ErrorCode = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  enhanceYourCalm: 0xb,
} as const;
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** Largest window, and the stream id that a first GOAWAY names (RFC 9113 6.8, 6.9.1). */
export const MAX_31_BITS = 0x7fff_ffff;
/** Bytes of a frame before its payload. */
export const FRAME_HEADER_BYTES = 9;
/** Window and frame size of a peer that has not sent SETTINGS (RFC 9113 6.5.2). */
export const DEFAULT_WINDOW = 65_535;
export const DEFAULT_FRAME_BYTES = 16_384;
