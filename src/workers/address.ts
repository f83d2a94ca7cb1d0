import { isIP, isIPv4, isIPv6 } from 'node:net';

/** True for a bare IPv4 or IPv6 address (no brackets, no zone). */
export function isIpLiteral(host: string): boolean {
  return isIP(host) !== 0 && !host.includes('%');
}

/**
 * `ip:port` as Envoy writes it: IPv6 compressed, lower case and bracketed (envoy 6.2). Empty when `ip` is no address
 * that Envoy could hold, such as one with a zone.
 *
 * @param ip bare address, without brackets
 */
export function canonicalAddress(ip: string, port: number): string {
  if (isIPv4(ip)) return `${ip}:${port}`;
  const bracketed = canonicalIpv6(ip);
  return bracketed === '' ? '' : `${bracketed}:${port}`;
}

/** An IPv6 address as Envoy writes it before a port; empty for anything else, such as one with a zone. */
export function canonicalIpv6(ip: string): string {
  return isIPv6(ip) && !ip.includes('%') ? `[${compressIpv6(ip)}]` : '';
}

/** Splits what `canonicalAddress` made; undefined for an empty or foreign text. */
export function splitAddress(address: string): { readonly ip: string; readonly port: number } | undefined {
  const colon = address.lastIndexOf(':');
  if (colon <= 0) return undefined;
  const host = address.slice(0, colon);
  const ip = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return { ip, port: Number(address.slice(colon + 1)) };
}

/** The URL parser compresses as RFC 5952 wants; only the forms that inet_ntop shows with a dotted tail differ. */
function compressIpv6(ip: string): string {
  const compressed = new URL(`http://[${ip}]`).hostname.slice(1, -1);
  const embedded = /^::(ffff:)?([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(compressed);
  if (embedded === null) return compressed;
  const [, prefix = '', high = '', low = ''] = embedded;
  return `::${prefix}${bytesOf(high)}.${bytesOf(low)}`;
}

function bytesOf(word: string): string {
  const value = Number.parseInt(word, 16);
  return `${value >> 8}.${value & 0xff}`;
}
