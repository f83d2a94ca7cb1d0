/** How the client library is asked for connections. Each lives once: what ends is replaced, by a `LastingClient`. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { StoreAddress, StoreHost } from '../util/pin-store-url.ts';
import type { StoreLogin } from './store-login.ts';

/** A server that accepts connections and says nothing is given up after this time, also in the middle of a connection. */
const SILENCE_MS = 3000;
const CONNECT_MS = 2000;
const SENTINEL_MS = 1000;
/** A socket is closed by force when the other side does not within this time. */
const CLOSE_MS = 100;
const MAX_REDIRECTIONS = 5;

/** Spelled out, as the library makes the types of answers from it. */
type Options = Part & { readonly replyMapping: 'legacy' };
type Part = Omit<RedisOptions, 'replyMapping'>;

export interface ClientPlace {
  readonly address: StoreAddress;
  readonly login: StoreLogin;
  /** As `CLIENT LIST` shows it. */
  readonly name: string;
  /** Login of the Sentinels themselves; null: they have none. */
  readonly sentinelLogin: StoreLogin | null;
}

/** For commands. */
export function commandClient(place: ClientPlace): Redis | Cluster {
  const { kind, hosts } = place.address;
  if (kind !== 'cluster') return new Redis(single(place, null));
  return new Cluster([...hosts], {
    redisOptions: common(place),
    clusterRetryStrategy: null,
    // Only what comes while the connection to a node is made; the link asks nothing of a Cluster that is not ready.
    enableOfflineQueue: true,
    // A call is not tried for longer than somebody waits for it.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 20,
    maxRedirections: MAX_REDIRECTIONS,
    slotsRefreshTimeout: SENTINEL_MS,
    // Certificates are for names; an address that was looked up would not fit them.
    dnsLookup: (host, found) => found(null, host),
  });
}

/** For one subscription. A Cluster hands every message to all its nodes, so any of them will do. */
export function subscriberClient(place: ClientPlace, node: StoreHost | null): Redis {
  return new Redis(single(place, node));
}

function single(place: ClientPlace, node: StoreHost | null): Options {
  return { ...common(place), ...(node ?? target(place)), enableOfflineQueue: false };
}

function common({ address, login, name }: ClientPlace): Options {
  return {
    // Answers are the same with both, and this one passes every proxy.
    protocol: 2,
    replyMapping: 'legacy',
    ...(login.username === null ? {} : { username: login.username }),
    ...(login.password === null ? {} : { password: login.password }),
    ...tlsOf(address, login),
    db: address.database,
    connectionName: name,
    disableClientInfo: true,
    // The prober sees a server that still loads, or is a replica.
    enableReadyCheck: false,
    retryStrategy: null,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    socketTimeout: SILENCE_MS,
    connectTimeout: CONNECT_MS,
    disconnectTimeout: CLOSE_MS,
    keepAlive: 10_000,
  };
}

function target({ address, login, sentinelLogin }: ClientPlace): Part {
  if (address.kind !== 'sentinel') return address.hosts[0] ?? {};
  return {
    sentinels: address.hosts.map(({ host, port }) => ({ host, port })),
    name: address.master,
    sentinelRetryStrategy: () => null,
    sentinelCommandTimeout: SENTINEL_MS,
    ...(sentinelLogin?.username == null ? {} : { sentinelUsername: sentinelLogin.username }),
    ...(sentinelLogin?.password == null ? {} : { sentinelPassword: sentinelLogin.password }),
    ...(address.tls ? { enableTLSForSentinelMode: true, sentinelTLS: login.ca === null ? {} : { ca: login.ca } } : {}),
  };
}

function tlsOf({ tls }: StoreAddress, { ca }: StoreLogin): Part {
  return tls ? { tls: ca === null ? {} : { ca } } : {};
}
