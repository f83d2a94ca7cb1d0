import http2 from 'node:http2';

/** Far above what Envoy does on one connection, low enough to be a limit. */
const GENEROUS_RESETS = { streamResetBurst: 1_000_000, streamResetRate: 100_000 };

/**
 * Runs `create` so that an HTTP/2 server it makes tolerates Envoy's resets. nghttp2 closes a connection after 1,000 resets
 * in a burst (envoy 3.3), which Envoy reaches in seconds without its graceful close, and grpc-js has no option to raise the
 * limit. Node 20 ignores these options.
 */
export function withGenerousResets<T>(create: () => T): T {
  const original = http2.createServer;
  const tolerant = (options: http2.ServerOptions): http2.Http2Server => original({ ...options, ...GENEROUS_RESETS });
  // The overloads of createServer differ in a request listener, which grpc-js does not pass.
  http2.createServer = tolerant as typeof http2.createServer;
  try {
    return create();
  } finally {
    http2.createServer = original;
  }
}
