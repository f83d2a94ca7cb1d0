import { isIP } from 'node:net';

/** Where something listens: TCP, or a Unix socket. IPv6 hosts are without brackets. */
export type Address =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

export type TcpAddress = Extract<Address, { kind: 'tcp' }>;

export const ADDRESS_FORM = 'HOST:PORT, [IPV6]:PORT or unix:PATH';

/** Reads `HOST:PORT`, `[IPV6]:PORT` (port 1 to 65535) or `unix:PATH`; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  if (text.startsWith('unix:')) return text.length > 5 ? { kind: 'unix', path: text.slice(5) } : undefined;
  return parseTcpAddress(text);
}

/** Reads `HOST:PORT` or `[IPV6]:PORT`; undefined for anything else. */
export function parseTcpAddress(text: string): TcpAddress | undefined {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text);
  if (parts === null) return undefined;
  const [, ipv6, name, digits] = parts;
  const port = Number(digits);
  if (port < 1 || port > 65_535 || (ipv6 !== undefined && isIP(ipv6) !== 6)) return undefined;
  return { kind: 'tcp', host: ipv6 ?? name ?? '', port };
}

/** The address as {@link parseAddress} reads it. */
export function showAddress(address: Address): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  return `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
}

/** True for a host that Envoy has to resolve. */
export function isDnsName(address: Address): boolean {
  return address.kind === 'tcp' && isIP(address.host) === 0;
}

/** True for a Unix socket and for loopback: nobody else's machine. */
export function isLocal(address: Address): boolean {
  return (
    address.kind === 'unix' || address.host === '::1' || (isIP(address.host) === 4 && address.host.startsWith('127.'))
  );
}

/** Envoy's `core.v3.Address`. */
export function envoyAddress(address: Address): object {
  if (address.kind === 'unix') return { pipe: { path: address.path } };
  return { socket_address: { address: address.host, port_value: address.port } };
}
