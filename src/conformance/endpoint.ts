import { isIPv4, isIPv6 } from 'node:net';

/** Address of an `ip:port`, without the brackets of IPv6. */
export function addressOf(endpoint: string): string {
  const at = endpoint.lastIndexOf(':');
  return endpoint.slice(0, at).replace(/^\[|\]$/g, '');
}

/** Whether it is an address and a port, IPv6 in brackets and in the one form that Envoy finds (endpoint-picker-protocol 3, envoy 6.2). */
export function isEndpoint(text: string): boolean {
  const at = text.lastIndexOf(':');
  const host = text.slice(0, Math.max(at, 0));
  const port = text.slice(at + 1);
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535) return false;
  return (
    isIPv4(host) ||
    (host.startsWith('[') && host.endsWith(']') && isIPv6(host.slice(1, -1)) && host === bracketed(host.slice(1, -1)))
  );
}

/** With the brackets and the form that IPv6 lacks in some pickers; the lack itself is for E11. */
export function canonical(endpoint: string): string {
  const at = endpoint.lastIndexOf(':');
  const host = endpoint.slice(0, Math.max(at, 0));
  const address = host.replace(/^\[|\]$/g, '');
  return isIPv6(address) ? `${bracketed(address)}${endpoint.slice(at)}` : endpoint;
}

/** In brackets and in its shortest form (RFC 5952); one that ends like IPv4, or has a zone, stays. */
function bracketed(address: string): string {
  return /[.%]/.test(address) ? `[${address}]` : new URL(`http://[${address}]/`).hostname;
}
