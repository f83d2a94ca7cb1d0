import http2 from 'node:http2';

/** Far above what Envoy does on one connection, low enough to be a limit. */
const GENEROUS_RESETS = { streamResetBurst: 1_000_000, streamResetRate: 100_000 };
/** Bytes that a stream may send before it has to wait: a long prompt comes in one go. HTTP/2's default is 64 KiB. */
const STREAM_WINDOW = 1024 * 1024;
/** The same for all streams of a connection together; what a peer can make us hold that no call has taken yet. */
const CONNECTION_WINDOW = 4 * STREAM_WINDOW;

/**
 * Runs `create` so that an HTTP/2 server it makes has limits that fit Envoy, which grpc-js has no options for:
 *
 * - nghttp2 closes a connection after 1,000 resets in a burst (envoy 3.3), which Envoy reaches in seconds without its
 *   graceful close. Node 20 ignores these options.
 * - A prompt of some hundred KB would wait for a window update every 64 KiB (RFC 9113 6.9), its connection all the more.
 */
export function withFittingLimits<T>(create: () => T): T {
  const original = http2.createServer;
  const fitting = (options: http2.ServerOptions): http2.Http2Server => {
    const settings = { ...options.settings, initialWindowSize: STREAM_WINDOW };
    const server = original({ ...options, ...GENEROUS_RESETS, settings });
    return server.on('session', (session) => session.setLocalWindowSize(CONNECTION_WINDOW));
  };
  // The overloads of createServer differ in a request listener, which grpc-js does not pass.
  http2.createServer = fitting as typeof http2.createServer;
  try {
    return create();
  } finally {
    http2.createServer = original;
  }
}
