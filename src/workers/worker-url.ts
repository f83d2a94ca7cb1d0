import { isIPv4 } from 'node:net';
import { canonicalAddress, isIpLiteral } from './address.ts';

/** A worker's URL, taken apart. */
export interface WorkerUrl {
  /** Stable identity: the base, with `@rank` for one of its data-parallel ranks (interface 6). */
  readonly id: string;
  /** The URL as registered, without a trailing slash and a rank: where its requests go. */
  readonly base: string;
  /** Data-parallel rank of the engine at the base; null when the worker is the whole engine. */
  readonly rank: number | null;
  /** Bare IPv4 or IPv6 address, or a DNS name in lower case. */
  readonly host: string;
  readonly port: number;
  /** `ip:port` in Envoy's form; empty for a DNS name, which has to be resolved. */
  readonly address: string;
  /** What a `host` header names. */
  readonly authority: string;
  /** Equal for two spellings of one endpoint (letter case, default port, IPv6 notation), and for all ranks at it. */
  readonly endpoint: string;
}

export type WorkerUrlResult =
  | { readonly ok: true; readonly url: WorkerUrl }
  | { readonly ok: false; readonly message: string };

const ALLOWED =
  'allowed: http://HOST[:PORT] with an IPv4 address, a bracketed IPv6 address or a DNS name, and @RANK after it';
/** Above any number of ranks that an engine has. */
export const MAX_RANKS = 4096;
const DNS_LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Reads a worker URL (interface 6, decisions 45). The message of a failure names the value and what is allowed. */
export function parseWorkerUrl(text: string): WorkerUrlResult {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1];
  if (scheme === undefined) return refuse(text, 'has no scheme');
  if (scheme !== scheme.toLowerCase()) return refuse(text, 'has a scheme that is not in lower case');
  if (scheme !== 'http') return refuse(text, `has scheme ${scheme}, which is not supported`);

  const whole = text.slice('http://'.length);
  const rank = rankAtEnd(whole);
  const rest = rank === null ? whole : whole.slice(0, whole.lastIndexOf('@'));
  if (rest.includes('@')) return refuse(text, 'has user information');
  if (rank !== null && rank >= MAX_RANKS) return refuse(text, `has a rank above ${MAX_RANKS - 1}`);
  const authority = rest.endsWith('/') && rank === null ? rest.slice(0, -1) : rest;
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
  const base = `http://${authority}`;
  const url = { id: base, base, rank: null, host, port, address, authority, endpoint };
  return { ok: true, url: rank === null ? url : rankUrl(url, rank) };
}

/** The URL of one rank of the engine at a URL. */
export function rankUrl(url: WorkerUrl, rank: number): WorkerUrl {
  return { ...url, id: rankId(url.base, rank), rank };
}

/** The URL of the whole engine of which a URL may be one rank. */
export function baseUrl(url: WorkerUrl): WorkerUrl {
  return url.rank === null ? url : { ...url, id: url.base, rank: null };
}

/** Id of a worker at `base`. */
export function rankId(base: string, rank: number | null): string {
  return rank === null ? base : `${base}@${rank}`;
}

/** What is wrong with naming a rank where the flag is not on; null when nothing is. */
export function rankProblem({ id, rank }: WorkerUrl, dpAware: boolean): string | null {
  if (rank === null || dpAware) return null;
  return `worker URL ${JSON.stringify(id)} names a data-parallel rank, which needs --dp-aware`;
}

/** True when two workers at these URLs would be the same, or one a part of the other. */
export function overlap(a: WorkerUrl, b: WorkerUrl): boolean {
  return a.endpoint === b.endpoint && (a.rank === b.rank || a.rank === null || b.rank === null);
}

function refuse(text: string, why: string): WorkerUrlResult {
  const shown = text.includes('@') ? hideUserInfo(text) : text;
  return { ok: false, message: `worker URL ${JSON.stringify(shown)} ${why}; ${ALLOWED}` };
}

/** A password in a URL must not reach a log. */
function hideUserInfo(text: string): string {
  return `http://***${text.slice(text.lastIndexOf('@'))}`;
}

/** The rank in `…@RANK`; null without one. */
function rankAtEnd(text: string): number | null {
  const at = text.lastIndexOf('@');
  const digits = at < 0 ? '' : text.slice(at + 1);
  return /^(0|[1-9][0-9]{0,8})$/.test(digits) ? Number(digits) : null;
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
