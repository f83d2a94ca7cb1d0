/**
 * What one connection may ask of us. Each default lies far above what an Envoy does on a busy connection and low enough to
 * keep memory and processor time bounded; the error is the one that RFC 9113 10.5 or the section of the frame names.
 */
export interface Http2Limits {
  /** Bytes of the fields of one request, counted as RFC 9113 6.5.2 does. More: the call ends with RESOURCE_EXHAUSTED. */
  readonly headerListBytes: number;
  /** Bytes of one header block over all of its frames. More: GOAWAY ENHANCE_YOUR_CALM (RFC 9113 10.5.1). */
  readonly headerBlockBytes: number;
  /** CONTINUATION frames of one header block. More: GOAWAY ENHANCE_YOUR_CALM (CVE-2024-27316). */
  readonly continuations: number;
  /** Payload of a frame that we announce and take (RFC 9113 4.2). More: GOAWAY FRAME_SIZE_ERROR. */
  readonly frameBytes: number;
  /** Streams open at once. More: RST_STREAM REFUSED_STREAM (RFC 9113 5.1.2). */
  readonly streams: number;
  /** Streams that the peer resets before it got an answer. More: GOAWAY ENHANCE_YOUR_CALM (CVE-2023-44487). */
  readonly unansweredResets: Rate;
  /** Streams that we reset for a fault of the peer. More: GOAWAY ENHANCE_YOUR_CALM (CVE-2025-8671). */
  readonly provokedResets: Rate;
  /** PING frames. More: GOAWAY ENHANCE_YOUR_CALM. */
  readonly pings: Rate;
  /** SETTINGS frames. More: GOAWAY ENHANCE_YOUR_CALM. */
  readonly settings: Rate;
  /** DATA frames that carry nothing, or padding only, and end nothing. More: GOAWAY ENHANCE_YOUR_CALM (CVE-2019-9518). */
  readonly emptyFrames: Rate;
  /**
   * Frames that have no effect here: PRIORITY, unknown types, frames of closed streams, GOAWAY, acknowledgements of PING. More:
   * GOAWAY ENHANCE_YOUR_CALM.
   */
  readonly idleFrames: Rate;
  /** WINDOW_UPDATE frames. More: GOAWAY ENHANCE_YOUR_CALM. */
  readonly windowUpdates: Rate;
  /** Bytes of answers that wait for the peer's windows. More: RST_STREAM ENHANCE_YOUR_CALM for the call that adds to it. */
  readonly sendQueueBytes: number;
  /** A peer that takes no byte for so long, while some are due, is dropped. */
  readonly slowReaderMs: number;
  /** The preface and the SETTINGS of the peer are awaited for so long (RFC 9113 3.4). */
  readonly prefaceMs: number;
  /** A connection that is silent for so long is asked by PING. */
  readonly keepaliveMs: number;
  /** It is dropped when the answer takes longer than this. */
  readonly keepaliveTimeoutMs: number;
}

/** A budget that fills up again. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

export const DEFAULT_LIMITS: Http2Limits = {
  headerListBytes: 64 * 1024,
  headerBlockBytes: 64 * 1024,
  continuations: 32,
  // What every peer knows without being told (RFC 9113 4.2); Envoy sends no larger ones.
  frameBytes: 16 * 1024,
  // Envoy takes the value when SETTINGS arrive, and its first burst comes before (envoy 1, rule 15).
  streams: 100_000,
  unansweredResets: { burst: 20_000, perSecond: 2000 },
  provokedResets: { burst: 1000, perSecond: 100 },
  pings: { burst: 1000, perSecond: 100 },
  settings: { burst: 100, perSecond: 10 },
  emptyFrames: { burst: 10_000, perSecond: 1000 },
  idleFrames: { burst: 50_000, perSecond: 5000 },
  windowUpdates: { burst: 200_000, perSecond: 100_000 },
  sendQueueBytes: 256 * 1024 * 1024,
  slowReaderMs: 30_000,
  prefaceMs: 10_000,
  keepaliveMs: 30_000,
  keepaliveTimeoutMs: 20_000,
};

/** Names of the limits, as metrics and GOAWAY frames tell them. */
export type LimitName =
  | 'header_list'
  | 'header_block'
  | 'continuations'
  | 'frame_size'
  | 'streams'
  | 'unanswered_resets'
  | 'provoked_resets'
  | 'pings'
  | 'settings'
  | 'empty_frames'
  | 'idle_frames'
  | 'window_updates'
  | 'send_queue'
  | 'slow_reader'
  | 'preface'
  | 'keepalive';
