import { isIPv4 } from 'node:net';
import { canonicalAddress, isIpLiteral } from './address.ts';

/**
 * How a worker is spoken to (decisions 45): `http` HTTP without TLS, `https` HTTP over TLS, `grpc` and `grpcs` the same for
 * workers that serve gRPC requests and nothing else.
 */
export type WorkerScheme = 'http' | 'https' | 'grpc' | 'grpcs';
export const WORKER_SCHEMES: readonly WorkerScheme[] = ['http', 'https', 'grpc', 'grpcs'];

/** A worker's URL, taken apart. */
export interface WorkerUrl {
  readonly scheme: WorkerScheme;
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

const ALLOWED = [
  'allowed: http://HOST[:PORT], or https, grpc or grpcs in its place, with an IPv4 address, a bracketed IPv6 address or',
  'a DNS name, and @RANK after it',
].join(' ');
/** What stands for a scheme that people look for. */
const INSTEAD: Readonly<Record<string, string>> = {
  h2c: ' (HTTP/2 without TLS is http:// with --upstream-http2, or grpc:// for gRPC workers)',
  h2: ' (HTTP/2 over TLS is https:// with --upstream-http2, or grpcs:// for gRPC workers)',
};
/** Above any number of ranks that an engine has. */
export const MAX_RANKS = 4096;
const DNS_LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Reads a worker URL (interface 6, decisions 45). The message of a failure names the value and what is allowed. */
export function parseWorkerUrl(text: string): WorkerUrlResult {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1];
  if (scheme === undefined) return refuse(text, 'has no scheme');
  if (scheme !== scheme.toLowerCase()) return refuse(text, 'has a scheme that is not in lower case');
  if (!isWorkerScheme(scheme)) {
    return refuse(text, `has scheme ${scheme}, which is not supported${INSTEAD[scheme] ?? ''}`);
  }

  const whole = text.slice(`${scheme}://`.length);
  const rank = rankAtEnd(whole);
  const rest = rank === null ? whole : whole.slice(0, whole.lastIndexOf('@'));
  if (rest.includes('@')) return refuse(text, 'has user information');
  if (rank !== null && rank >= MAX_RANKS) return refuse(text, `has a rank above ${MAX_RANKS - 1}`);
  if (rank !== null && isGrpc(scheme)) return refuse(text, 'has a rank, which no gRPC request can name');
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
  const port = portText === undefined ? (isTls(scheme) ? 443 : 80) : portNumber(portText);
  if (port === undefined) return refuse(text, 'has a port outside 1 to 65535');

  const address = canonicalAddress(host, port);
  const endpoint = address === '' ? `${host}:${port}` : address;
  const base = `${scheme}://${authority}`;
  const url = { scheme, id: base, base, rank: null, host, port, address, authority, endpoint };
  return { ok: true, url: rank === null ? url : rankUrl(url, rank) };
}

export function isWorkerScheme(text: string): text is WorkerScheme {
  return WORKER_SCHEMES.some((scheme) => scheme === text);
}

/** The connection to such a worker is over TLS. */
export function isTls(scheme: WorkerScheme): boolean {
  return scheme === 'https' || scheme === 'grpcs';
}

/** Such a worker takes gRPC requests and no others. */
export function isGrpc(scheme: WorkerScheme): boolean {
  return scheme === 'grpc' || scheme === 'grpcs';
}

/** The same of a worker's URL as text. */
export function isGrpcUrl(url: string): boolean {
  return url.startsWith('grpc');
}

/** What is wrong with a worker whose scheme Envoy was not configured for; null when nothing is. */
export function schemeProblem({ id, scheme }: WorkerUrl, schemes: ReadonlySet<WorkerScheme>): string | null {
  if (schemes.has(scheme)) return null;
  const cure = `start serve and envoy-config with --worker-schemes ${[...schemes, scheme].join(' ')}`;
  return `worker URL ${JSON.stringify(id)} has scheme ${scheme}, for which Envoy is not configured: ${cure}`;
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
  return `${text.slice(0, text.indexOf('://') + 3)}***${text.slice(text.lastIndexOf('@'))}`;
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
