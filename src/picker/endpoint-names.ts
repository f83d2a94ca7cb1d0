import { canonicalIpv6 } from '../workers/address.ts';

/**
 * Adds the endpoints of a comma-joined text as worker addresses are written: `ip:port`, or the ip alone, which stands for
 * each of its ports; IPv6 in brackets (endpoint-picker-protocol 2). Blanks are trimmed, empty parts skipped. What is no
 * address names nobody, and stays without effect.
 *
 * An IPv6 address without brackets may be read in two ways: `fd00::1:8000` adds both.
 */
export function addEndpointNames(text: string, names: string[]): void {
  for (let from = 0; from <= text.length; ) {
    const comma = text.indexOf(',', from);
    const to = comma < 0 ? text.length : comma;
    addName(text.slice(from, to).trim(), names);
    from = to + 1;
  }
}

function addName(name: string, names: string[]): void {
  if (name === '') return;
  if (name.startsWith('[')) {
    const close = name.indexOf(']');
    const ip = close < 0 ? '' : canonicalIpv6(name.slice(1, close));
    if (ip !== '') names.push(ip + name.slice(close + 1));
    return;
  }
  const colon = name.lastIndexOf(':');
  // IPv4 has one spelling only.
  if (colon < 0 || name.indexOf(':') === colon) {
    names.push(name);
    return;
  }
  const bare = canonicalIpv6(name);
  if (bare !== '') names.push(bare);
  const host = canonicalIpv6(name.slice(0, colon));
  if (host !== '') names.push(host + name.slice(colon));
}

/** The ip of `ip:port`, IPv6 with its brackets; empty for an empty address. */
export function ipOfAddress(address: string): string {
  const colon = address.lastIndexOf(':');
  return colon < 0 ? '' : address.slice(0, colon);
}
