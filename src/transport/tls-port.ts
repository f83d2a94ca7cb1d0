import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { HANDSHAKE_LIMITS, type HandshakeFailure, type HandshakeLimits, type TlsOptions } from './transport.ts';

/** Turns accepted connections into secure ones. */
export interface TlsPort {
  /** A connection begins its handshake, or is dropped when too many are at theirs. */
  accept(raw: Socket): void;
  /** From the next handshake on; sessions of the old certificate and authority are not resumed. */
  renew(tls: TlsOptions): void;
}

export interface TlsPortParts {
  readonly tls: TlsOptions;
  readonly secured: (socket: TLSSocket) => void;
  readonly failed: (reason: HandshakeFailure) => void;
  readonly limits?: HandshakeLimits;
}

/** TLS 1.2 is the least that HTTP/2 may be spoken over (RFC 9113 9.2). */
const MIN_VERSION = 'TLSv1.2';

export function openTlsPort({ tls, secured, failed, limits = HANDSHAKE_LIMITS }: TlsPortParts): TlsPort {
  let underWay = 0;
  const server = createServer(
    { ...tls, minVersion: MIN_VERSION, ALPNProtocols: ['h2'], handshakeTimeout: limits.timeoutMs },
    (socket) => {
      underWay -= 1;
      // gRPC over TLS is `h2`, agreed on in the handshake (RFC 9113 3.2).
      if (socket.alpnProtocol === 'h2') return secured(socket);
      socket.destroy();
      failed('no_h2');
    },
  );
  // Each connection ends its handshake once, here or above.
  server.on('tlsClientError', (error, socket) => {
    underWay -= 1;
    socket.destroy();
    failed(reasonOf(error, socket));
  });

  return {
    accept(raw) {
      if (underWay >= limits.atOnce) {
        raw.destroy();
        failed('too_many');
        return;
      }
      underWay += 1;
      server.emit('connection', raw);
    },
    renew: (next) => server.setSecureContext({ ...next, minVersion: MIN_VERSION }),
  };
}

const REASONS: Readonly<Record<string, HandshakeFailure>> = {
  ERR_TLS_HANDSHAKE_TIMEOUT: 'timeout',
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'no_certificate',
  ERR_SSL_HTTP_REQUEST: 'plaintext',
  ERR_SSL_WRONG_VERSION_NUMBER: 'plaintext',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'plaintext',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'old_version',
  ERR_SSL_VERSION_TOO_LOW: 'old_version',
  ERR_SSL_NO_APPLICATION_PROTOCOL: 'no_h2',
  ERR_SSL_CERTIFICATE_VERIFY_FAILED: 'untrusted',
};

function reasonOf(error: Error, socket: TLSSocket): HandshakeFailure {
  // Of a certificate that was shown, Node tells the fault at the socket and the rest as a hang-up. Without one it is null.
  if (typeof socket.authorizationError === 'string' || socket.authorizationError instanceof Error) return 'untrusted';
  const code = 'code' in error ? String(error.code) : '';
  // OpenSSL names what the peer objects to: ERR_SSL_TLSV1_ALERT_UNKNOWN_CA and the like.
  return REASONS[code] ?? (code.includes('_ALERT_') ? 'refused_by_peer' : 'other');
}
