import { isIPv4 } from 'node:net';
import { canonicalAddress, isIpLiteral } from './address.ts';

/** A worker's base URL, taken apart. */
export interface WorkerUrl {
  /** Stable identity: the URL as registered, without a trailing slash (interface 6). */
  readonly id: string;
  /** Bare IPv4 or IPv6 address, or a DNS name in lower case. */
  readonly host: string;
  readonly port: number;
  /** `ip:port` in Envoy's form; empty for a DNS name, which has to be resolved. */
  readonly address: string;
  /** What a `host` header names. */
  readonly authority: string;
  /** Equal for two spellings of one endpoint (letter case, default port, IPv6 notation). */
  readonly endpoint: string;
}

export type WorkerUrlResult =
  | { readonly ok: true; readonly url: WorkerUrl }
  | { readonly ok: false; readonly message: string };

const ALLOWED = 'allowed: http://HOST[:PORT] with an IPv4 address, a bracketed IPv6 address or a DNS name';
const DNS_LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Reads a worker URL (interface 6, decisions 45). The message of a failure names the value and what is allowed. */
export function parseWorkerUrl(text: string): WorkerUrlResult {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1];
  if (scheme === undefined) return refuse(text, 'has no scheme');
  if (scheme !== scheme.toLowerCase()) return refuse(text, 'has a scheme that is not in lower case');
  if (scheme !== 'http') return refuse(text, `has scheme ${scheme}, which is not supported`);

  const rest = text.slice('http://'.length);
  if (rest.includes('@')) return refuse(hideUserInfo(text), 'has user information');
  const authority = rest.endsWith('/') ? rest.slice(0, -1) : rest;
  if (/[?#]/.test(authority)) return refuse(text, 'has a query or a fragment');
  if (authority.includes('/')) return refuse(text, 'has a path');
  if (/^[^[]*:[^[]*:/.test(authority)) return refuse(text, 'has an IPv6 address without brackets');

  const parts = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/.exec(authority);
  if (parts === null) return refuse(text, 'has no valid host');
  const [, bracketed, plain = '', portText] = parts;
  const host = bracketed ?? plain.toLowerCase();
  if (!(bracketed === undefined ? isPlainHost(host) : host.includes(':') && isIpLiteral(host))) {
    return refuse(text, host === '' ? 'has no host' : 'has no valid host');
  }
  const port = portText === undefined ? 80 : portNumber(portText);
  if (port === undefined) return refuse(text, 'has a port outside 1 to 65535');

  const address = canonicalAddress(host, port);
  const endpoint = address === '' ? `${host}:${port}` : address;
  return { ok: true, url: { id: `http://${authority}`, host, port, address, authority, endpoint } };
}

function refuse(text: string, why: string): WorkerUrlResult {
  return { ok: false, message: `worker URL ${JSON.stringify(text)} ${why}; ${ALLOWED}` };
}

/** A password in a URL must not reach a log. */
function hideUserInfo(text: string): string {
  return `http://***${text.slice(text.lastIndexOf('@'))}`;
}

function isPlainHost(host: string): boolean {
  if (isIPv4(host)) return true;
  const labels = host.split('.');
  // A name whose last label is a number would be read as a (broken) IPv4 address.
  if (host.length > 253 || /^[0-9]*$/.test(labels.at(-1) ?? '')) return false;
  return labels.every((label) => DNS_LABEL.test(label));
}

function portNumber(text: string): number | undefined {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) return undefined;
  const port = Number(text);
  return port <= 65_535 ? port : undefined;
}
