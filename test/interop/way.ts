/** How a client reaches a server. */
export interface Way {
  readonly tls: boolean;
  readonly socket: 'TCP' | 'Unix socket';
}

/** All of them, in the order of the columns. */
export const WAYS: readonly Way[] = [
  { tls: false, socket: 'TCP' },
  { tls: false, socket: 'Unix socket' },
  { tls: true, socket: 'TCP' },
  { tls: true, socket: 'Unix socket' },
];

export function wayName({ tls, socket }: Way): string {
  return `${tls ? 'TLS' : 'plaintext'}, ${socket}`;
}

/** A listener of ours as a client is told of it. */
export interface Target {
  readonly way: Way;
  /** `host:port` or `unix:path`, as a transport names it. */
  readonly address: string;
  /** Path of the certificate to trust on a way with TLS; it is for {@link SERVER_NAME}. */
  readonly caPath: string;
}

/** What clients call a server whose address has no name: one at a Unix socket. */
export const SERVER_NAME = 'localhost';

/** The file of a Unix socket, null for TCP. */
export function socketPath({ address }: Target): string | null {
  return address.startsWith('unix:') ? address.slice('unix:'.length) : null;
}

/** The target as a URL without path; at a Unix socket its host is only a name. */
export function urlOf(target: Target): string {
  const scheme = target.way.tls ? 'https' : 'http';
  return `${scheme}://${socketPath(target) === null ? target.address : SERVER_NAME}`;
}
