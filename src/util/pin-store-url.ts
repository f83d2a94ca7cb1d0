/** Where one server of the store listens. */
export interface StoreHost {
  /** Name or IP address, an IPv6 one without brackets. */
  readonly host: string;
  readonly port: number;
}

/** What a URL of `--pin-store` says (interface 3). */
export interface StoreAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  /** One for a single server, else one or more to ask for the others. */
  readonly hosts: readonly StoreHost[];
  /** Name of the master that the Sentinels watch; empty for the other kinds. */
  readonly master: string;
  /** Number of the database; 0 for a cluster. */
  readonly database: number;
  readonly username: string | null;
  readonly password: string | null;
}

export type StoreUrlResult =
  | { readonly ok: true; readonly address: StoreAddress }
  /** What is wrong, and the cure; never a part of the URL that could be a secret. */
  | { readonly ok: false; readonly problem: string };

const KINDS = {
  'redis:': ['single', false],
  'rediss:': ['single', true],
  'redis+sentinel:': ['sentinel', false],
  'rediss+sentinel:': ['sentinel', true],
  'redis+cluster:': ['cluster', false],
  'rediss+cluster:': ['cluster', true],
} as const;
/** What a URL of a shared store begins with, before `//`. */
type Scheme = keyof typeof KINDS;

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;
/** Redis has 16 unless it was told otherwise, and no upper bound. */
const MAX_DATABASE = 65_535;
const HOST_NAME = /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/;
const IPV6 = /^\[([0-9A-Fa-f:.]+(%[A-Za-z0-9]+)?)\]$/;
const MASTER_NAME = /^[A-Za-z0-9._-]+$/;

/**
 * Reads `redis[s]://[user[:password]@]host[:port][/database]`, with `+sentinel` `…@host[:port],…/master[/database]` and with
 * `+cluster` `…@host[:port],…`. User and password are percent-encoded.
 */
export function parsePinStoreUrl(url: string): StoreUrlResult {
  const start = url.indexOf('//') + 2;
  const scheme = url.slice(0, Math.max(0, start - 2));
  if (!isScheme(scheme)) return wrong(`expected a URL that begins with ${Object.keys(KINDS).join('//, ')}//`);
  const [kind, tls] = KINDS[scheme];
  // A password may hold @ as it is; hosts and what follows cannot.
  const at = url.lastIndexOf('@');
  const rest = url.slice(Math.max(start, at + 1));
  if (/[?#]/.test(rest))
    return wrong('options after ? or # are not taken; they have flags of their own, --pin-store-…');

  const slash = rest.indexOf('/');
  const hosts = readHosts(slash < 0 ? rest : rest.slice(0, slash), kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT);
  if (typeof hosts === 'string') return wrong(hosts);
  if (kind === 'single' && hosts.length > 1) {
    return wrong('several hosts need redis+sentinel:// or redis+cluster:// (rediss+… with TLS)');
  }
  const path = slash < 0 ? '' : rest.slice(slash + 1).replace(/\/$/, '');
  const place = readPath(path, kind);
  if (typeof place === 'string') return wrong(place);
  const login = readLogin(at < start ? '' : url.slice(start, at));
  if (login === null) return wrong('user or password is not percent-encoded: % is written %25, : in a user name %3A');
  return { ok: true, address: { kind, tls, hosts, ...place, ...login } };
}

/** The URL without user and password, and without anything where they cannot be told from the rest. */
export function maskPinStoreUrl(url: string): string {
  if (url === 'memory' || !url.includes(':')) return url;
  const start = url.indexOf('//') + 2;
  if (!parsePinStoreUrl(url).ok || start < 2) return `${url.slice(0, url.indexOf(':'))}://***`;
  const at = url.lastIndexOf('@');
  return at < start ? url : `${url.slice(0, start)}***@${url.slice(at + 1)}`;
}

function isScheme(text: string): text is Scheme {
  return Object.hasOwn(KINDS, text);
}

function wrong(problem: string): StoreUrlResult {
  return { ok: false, problem };
}

function readHosts(text: string, defaultPort: number): readonly StoreHost[] | string {
  const hosts: StoreHost[] = [];
  for (const part of text.split(',')) {
    const colon = part.lastIndexOf(':');
    const hasPort = colon > part.lastIndexOf(']');
    const name = hasPort ? part.slice(0, colon) : part;
    const port = hasPort ? part.slice(colon + 1) : String(defaultPort);
    const host = IPV6.exec(name)?.[1] ?? (HOST_NAME.test(name) ? name : null);
    const which = text.includes(',') ? `host ${hosts.length + 1}` : 'the host';
    if (name === '') return `${which} is missing: expected host or host:port`;
    if (host === null) return `${which} is neither a name nor an IP address ([…] around an IPv6 one)`;
    if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
      return `the port of ${which} is not a number from 1 to 65535 (is the @ after a password missing?)`;
    }
    hosts.push({ host, port: Number(port) });
  }
  return hosts;
}

type Place = Pick<StoreAddress, 'master' | 'database'>;

function readPath(path: string, kind: StoreAddress['kind']): Place | string {
  const parts = path === '' ? [] : path.split('/');
  if (kind === 'cluster') {
    return parts.length === 0 ? { master: '', database: 0 } : 'a cluster has no databases: end the URL after the hosts';
  }
  let master = '';
  if (kind === 'sentinel') {
    master = parts.shift() ?? '';
    if (master === '') return 'the name of the master is missing: redis+sentinel://host1,host2/NAME';
    if (!MASTER_NAME.test(master)) return 'the name of the master holds other characters than A-Z a-z 0-9 . _ -';
  }
  const [number = '0', ...more] = parts;
  if (more.length > 0 || !/^\d{1,5}$/.test(number) || Number(number) > MAX_DATABASE) {
    return `after the ${kind === 'sentinel' ? 'name of the master' : 'host'} comes nothing, or / and the number of a database`;
  }
  return { master, database: Number(number) };
}

type Login = Pick<StoreAddress, 'username' | 'password'>;

function readLogin(text: string): Login | null {
  const colon = text.indexOf(':');
  const user = decoded(colon < 0 ? text : text.slice(0, colon));
  const password = colon < 0 ? '' : decoded(text.slice(colon + 1));
  if (user === null || password === null) return null;
  return { username: user === '' ? null : user, password: password === '' ? null : password };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
