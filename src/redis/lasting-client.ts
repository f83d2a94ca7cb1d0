import type { Cluster, Redis } from 'ioredis';
import { type StoreError, storeErrorOf } from './store-error.ts';

/** Longest wait between two attempts to connect; less by up to a half, so that replicas do not come at once. */
const MAX_WAIT_MS = 500;
const FIRST_WAIT_MS = 40;
/** A connection that lived shorter counts as a failed attempt. */
const LIVED_MS = 1000;

export interface LastingClientEvents<C> {
  /** Begins a connection. */
  create(): C;
  ready(client: C): void;
  /** A connection that was ready is lost, or one that was tried did not come. */
  ended(error: StoreError, wasReady: boolean): void;
}

/**
 * A client that is replaced by a new one whenever its connection ends, for ever. The library could connect again by
 * itself, but would keep the login, the node and what it has queued.
 */
export class LastingClient<C extends Redis | Cluster> {
  readonly #events: LastingClientEvents<C>;
  #client: C | null = null;
  #readySince = -1;
  #attempts = 0;
  /** Why the connection there is was given up. */
  #givenUp: StoreError | null = null;
  #timer: NodeJS.Timeout | undefined;
  #closedNow: () => void = () => {};
  #closed = false;

  constructor(events: LastingClientEvents<C>) {
    this.#events = events;
  }

  start(): void {
    this.#begin();
  }

  /** The client whose connection is ready, or null. */
  get ready(): C | null {
    return this.#readySince >= 0 ? this.#client : null;
  }

  /** Ends the connection there is, for another: the server turned out to be the wrong one, or the login is not accepted. */
  renew(why: StoreError): void {
    this.#givenUp = why;
    this.#client?.disconnect();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.#client === null) return;
    const ended = new Promise<void>((resolve) => {
      this.#closedNow = resolve;
    });
    this.#client.disconnect();
    await ended;
  }

  #begin(): void {
    const client = this.#events.create();
    let last: StoreError | null = null;
    const failed = (error: unknown): void => {
      last = storeErrorOf(causeOf(error));
    };
    this.#client = client;
    this.#givenUp = null;
    client.on('error', failed);
    client.on('sentinelError', failed);
    client.on('node error', failed);
    client.once('ready', () => {
      if (this.#closed || this.#client !== client) return;
      this.#readySince = performance.now();
      last = null;
      this.#events.ready(client);
    });
    client.once('end', () => this.#end(this.#givenUp ?? last));
  }

  #end(error: StoreError | null): void {
    const since = this.#readySince;
    this.#client = null;
    this.#readySince = -1;
    if (this.#closed) {
      this.#closedNow();
      return;
    }
    this.#attempts = since >= 0 && performance.now() - since >= LIVED_MS ? 0 : this.#attempts + 1;
    const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#attempts, 10));
    this.#timer = setTimeout(() => this.#begin(), wait * (0.5 + Math.random() / 2));
    this.#events.ended(error ?? storeErrorOf(new Error('the connection was closed')), since >= 0);
  }
}

/** A Cluster and Sentinels say in the end only that all of them failed. */
function causeOf(error: unknown): unknown {
  const cause = error instanceof Error && 'lastNodeError' in error ? error.lastNodeError : undefined;
  return cause instanceof Error ? cause : error;
}
