import type { PinChange, StoreLink, StoreState } from '../pins/shared/pin-backend.ts';
import type { LinkObserver } from './link-observer.ts';
import type { StoreClient, StoreScript } from './store-client.ts';

export interface RedisLinkOptions {
  /** Unique among the replicas: 8 hexadecimal digits. */
  readonly self: string;
  /** `--pin-store-prefix` */
  readonly prefix: string;
  /** Beat those of the URL; null: as the URL says. */
  readonly username: string | null;
  readonly passwordFile: string | null;
  /** Certificates to trust, for TLS; null: those of the system. */
  readonly caPath: string | null;
  /** Longest wait of a request for the store, now. */
  readonly claimTimeoutMs: () => number;
  /** Reads a message of `{prefix}:changes`; null: not one of ours. */
  readonly readChange: (message: string) => PinChange | null;
  readonly observer: LinkObserver;
}

/** The way to the shared store: one connection for commands, one for the subscription, and how far they can be relied on. */
export interface RedisLink extends StoreLink, StoreClient {
  /** Ends connections and timers. */
  close(): Promise<void>;
}

export type { StoreClient, StoreLink, StoreScript, StoreState };
