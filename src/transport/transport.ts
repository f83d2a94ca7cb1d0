import type { TlsOptions as SecureOptions } from 'node:tls';
import type { LimitName } from './http2/limits.ts';

/**
 * The line between gRPC bytes and our services. An implementation accepts connections, frames messages and reports the
 * end of calls; it knows nothing of Envoy. One suite, `transport.suite.ts`, holds for all implementations.
 */

/** gRPC status codes in use (https://grpc.github.io/grpc/core/md_doc_statuscodes.html). */
export const GrpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;
export type GrpcStatus = (typeof GrpcStatus)[keyof typeof GrpcStatus];

/** The server's side of one call, unary or streaming. */
export interface Call {
  /** First value of a request metadata entry, undefined when it was not sent. */
  metadata(name: string): string | undefined;
  /** Sends one message. Does nothing once the call is over. */
  send(message: Uint8Array): void;
  /**
   * The handler has done with the bytes of a message: their memory may come again with another one. A handler that does not say
   * so leaves them to the garbage collector.
   */
  release(message: Buffer): void;
  /** Ends the call with a status, OK by default. Does nothing once the call is over. */
  end(status?: GrpcStatus, details?: string): void;
}

/** What a service does with one call. None of these may throw; a throw ends the call with INTERNAL. */
export interface CallHandler {
  /** One whole message. The bytes belong to the handler, until it gives them to {@link Call.release}. */
  message(bytes: Buffer): void;
  /** The client will send no more. A reset may be told this way too, right before `closed`. */
  halfClosed(): void;
  /**
   * The call is over, for whatever reason: ended by us, reset, cancelled, connection lost. Called exactly once, after
   * which neither of the others is called.
   */
  closed(): void;
}

/** One gRPC method: full path, and the handler of each call of it. */
export interface Method {
  /** `/package.Service/Method`. */
  readonly path: string;
  open(call: Call): CallHandler;
}

export interface TransportOptions {
  /** Largest message accepted, in bytes; a larger one ends its call with RESOURCE_EXHAUSTED. */
  readonly maxReceiveBytes: number;
  /** Told of a handler that threw. */
  readonly onHandlerError: (path: string, error: unknown) => void;
  /** Serve TLS (ALPN `h2`) instead of plain text. */
  readonly tls?: TlsOptions;
  readonly observer?: TransportObserver;
}

/** Of `tls.createServer`: what the port shows of itself, and whom it wants to see. */
export type TlsOptions = Pick<SecureOptions, 'cert' | 'key' | 'ca' | 'requestCert' | 'rejectUnauthorized'>;

/** What peers may do before they are known. */
export interface HandshakeLimits {
  /** Longest handshake, in milliseconds. */
  readonly timeoutMs: number;
  /** Handshakes under way at once on one port; a further connection is dropped. */
  readonly atOnce: number;
}

export const HANDSHAKE_LIMITS: HandshakeLimits = { timeoutMs: 10_000, atOnce: 1000 };

/** Why a handshake came to nothing, as the metric tells it. */
export type HandshakeFailure =
  | 'plaintext'
  | 'no_certificate'
  | 'untrusted'
  | 'refused_by_peer'
  | 'no_h2'
  | 'old_version'
  | 'timeout'
  | 'too_many'
  | 'other';

/** Told of what happens on connections, where the transport sees it. */
export interface TransportObserver {
  /** A peer reached a limit of `http2/limits.ts`. */
  limitReached(limit: LimitName): void;
  /** A peer reset a call that was open, as Envoy does by default when it has its answer (envoy 3.2). */
  resetReceived(): void;
  goAwaySent(): void;
  /** A connection to a port with TLS was dropped before any call. */
  handshakeFailed(reason: HandshakeFailure): void;
}

/** Where to listen: TCP (port 0 = any free one) or a Unix socket. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly socketPath: string };

export interface Transport {
  /** Opens a port and answers with the address as clients name it: `host:port` or `unix:path`. Rejects when it is taken. */
  listen(address: ListenAddress): Promise<string>;
  /** Shows another certificate, or trusts others, from the next handshake on; connections that are open stay. */
  renewTls(tls: TlsOptions): void;
  /** Calls that are open now. */
  readonly openCalls: number;
  /** Connections that are open now, with calls or without. */
  readonly openConnections: number;
  /** Stops accepting and resolves when every open call is over. */
  drain(): Promise<void>;
  /** Ends everything at once. */
  close(): Promise<void>;
}

/** Makes a transport for a fixed set of methods. An unknown method is answered with UNIMPLEMENTED. */
export type TransportFactory = (methods: readonly Method[], options: TransportOptions) => Transport;
