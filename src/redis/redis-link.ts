import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Cluster, Redis } from 'ioredis';
import type { PinChange, StoreLink, StoreState } from '../pins/shared/pin-backend.ts';
import { decodeChange } from '../pins/shared/pin-record.ts';
import { isOfStore } from '../pins/shared/store-clock.ts';
import { Listeners } from '../util/listeners.ts';
import type { ClientPlaces } from './client-places.ts';
import { clientScript } from './client-script.ts';
import { LastingClient } from './lasting-client.ts';
import type { LinkObserver } from './link-observer.ts';
import { readLua } from './lua-file.ts';
import { Prober } from './prober.ts';
import { changesChannel } from './redis-pin-backend.ts';
import type { StoreClient, StoreScript } from './store-client.ts';
import { StoreError, type StoreErrorReason, storeErrorOf } from './store-error.ts';
import { StoreGate } from './store-gate.ts';
import { Subscription } from './subscription.ts';

export interface RedisLinkOptions {
  /** Unique among the replicas: 8 hexadecimal digits. */
  readonly self: string;
  /** `--pin-store-prefix` */
  readonly prefix: string;
  /** Longest wait of a request for the store, now. */
  readonly claimTimeoutMs: () => number;
  readonly observer: LinkObserver;
}

const PROBE = clientScript(readLua('probe-1.lua'));
const PUBLISH = clientScript("return redis.call('PUBLISH', ARGV[1], ARGV[2])");

const DEFAULT_BOUND_MS = 50;

/** What a probe finds. */
interface Probe {
  /** Tells one life of the data from the next. */
  readonly epoch: string;
  /** Milliseconds since 1970. */
  readonly storeNow: number;
}

/** The way to the shared store: a connection for commands, one for the subscription, and how far they can be relied on. */
export class RedisLink implements StoreLink, StoreClient {
  readonly self: string;
  readonly prefix: string;
  readonly #options: RedisLinkOptions;
  readonly #places: ClientPlaces;
  readonly #gate = new StoreGate();
  readonly #commands: LastingClient<Redis | Cluster>;
  readonly #subscription: Subscription;
  readonly #prober: Prober<Probe>;
  readonly #states = new Listeners<[state: StoreState]>();
  readonly #gaps = new Listeners<[]>();
  #toldState: StoreState = 'down';
  /** What was told last to be wrong; null while nothing is. */
  #trouble: StoreErrorReason | null = null;
  /** Of the last call since one was answered in time; null: none failed, they were late. */
  #failure: StoreError | null = null;
  /** Changes may have been missed, which is told once both ways stand. */
  #missed = true;
  #epoch: string | null = null;
  /** By how much the clock of the store is ahead of ours, in milliseconds; null until it was heard. */
  #clockAheadMs: number | null = null;
  #collecting = false;

  /** Begins to connect at once. */
  constructor(places: ClientPlaces, options: RedisLinkOptions) {
    this.self = options.self;
    // Channels know no databases.
    this.prefix = places.database === 0 ? options.prefix : `${options.prefix}:@${places.database}`;
    this.#options = options;
    this.#places = places;
    this.#prober = new Prober({
      ask: () => this.#probe(),
      answered: (ms, found) => this.#probed(ms, found),
      refused: (error) => this.#refused(error),
      overdue: () => this.#lost(new StoreError('timeout', 'the store does not answer')),
      well: () => this.#gate.state === 'up',
    });
    this.#commands = new LastingClient<Redis | Cluster>({
      create: () => places.commands(),
      ready: (client) => {
        this.#options.observer.connected();
        // A node that was away may have lost its part of the data.
        client.on('+node', (node: Redis) => {
          node.once('ready', () => {
            this.#missed = true;
          });
        });
        this.#enter(client);
      },
      ended: (error) => {
        this.#prober.end();
        // Who comes next may be another server, which lacks the last writes of this one.
        this.#missed = true;
        this.#lost(error);
      },
    });
    this.#subscription = new Subscription({
      create: () => places.subscriber(this.#commands.ready),
      active: () => {
        this.#options.observer.subscribed();
        this.#tellGap();
      },
      lost: (error, wasActive) => {
        // Where nothing answers, that is told.
        if (wasActive || this.state !== 'down') this.#options.observer.unsubscribed(error.reason, error.message);
        this.#missed = true;
        this.#count(error);
        this.#places.failed(error);
      },
    });
    this.#commands.start();
    this.#subscription.start();
  }

  get state(): StoreState {
    return this.#gate.state;
  }

  /** Whether changes of other replicas are heard. */
  get subscribed(): boolean {
    return this.#subscription.active;
  }

  gave(version: number): boolean {
    return this.#clockAheadMs !== null && isOfStore(version, performance.now() + this.#clockAheadMs);
  }

  answered(ms: number): void {
    if (ms > this.#options.claimTimeoutMs()) {
      this.failed();
    } else {
      this.#gate.answered();
      this.#failure = null;
    }
  }

  failed(): void {
    this.#gate.failed(performance.now(), this.#options.claimTimeoutMs());
    if (this.#gate.state === this.#toldState) return;
    this.#told(this.#failure ?? new StoreError('timeout', 'answers come too late'));
    this.#prober.hurry();
  }

  onState(listener: (state: StoreState) => void): () => void {
    return this.#states.add(listener);
  }

  onChange(listener: (change: PinChange) => void): () => void {
    return this.subscribe(changesChannel(this.prefix), (message) => {
      const change = decodeChange(message);
      if (change !== null) listener(change);
    });
  }

  onGap(listener: () => void): () => void {
    return this.#gaps.add(listener);
  }

  run(command: string, args: readonly (string | number)[]): Promise<unknown> {
    const client = this.#client();
    return client === null ? notConnected() : client.call(command, [...args]).catch((error) => this.#failed(error));
  }

  script(lua: string): StoreScript {
    const run = clientScript(lua);
    return (keys, args) => {
      const client = this.#client();
      return client === null ? notConnected() : run(client, keys, args).catch((error) => this.#failed(error));
    };
  }

  publish(channel: string, message: string): boolean {
    const client = this.#client();
    if (client === null) return false;
    // A Cluster would give it to any node, also to one that is away; the node of the epoch is known to answer.
    const sent =
      'nodes' in client
        ? PUBLISH(client, [`${this.prefix}:epoch`], [channel, message])
        : client.call('publish', [channel, message]);
    sent.catch((error: unknown) => this.#count(storeErrorOf(error)));
    return true;
  }

  subscribe(channel: string, listener: (message: string) => void): () => void {
    return this.#subscription.subscribe(channel, listener);
  }

  /** Ends connections and timers. */
  async close(): Promise<void> {
    this.#states.clear();
    this.#gaps.clear();
    this.#prober.end();
    await Promise.all([this.#commands.close(), this.#subscription.close()]);
    this.#prober.end();
  }

  /** The client for commands while the store answers: what it does not answer must not pile up. */
  #client(): Redis | Cluster | null {
    const client = this.#commands.ready;
    if (client?.status !== 'ready' || !this.#prober.answering) return null;
    if ('stream' in client) this.#collect(client.stream);
    return client;
  }

  /**
   * What is asked in one turn of the event loop goes out as one write. Measured, 64 claims at once take little more than half
   * of the time, and a third of the CPU time, that they take alone; pipelines of the library do less, and hold up what comes
   * while one is under way.
   */
  #collect(stream: Socket): void {
    if (this.#collecting) return;
    this.#collecting = true;
    stream.cork();
    process.nextTick(() => {
      this.#collecting = false;
      stream.uncork();
    });
  }

  /** The library chooses the database, too, but goes on in the first one where that is refused. */
  #enter(client: Redis | Cluster): void {
    const { database } = this.#places;
    if (database === 0) {
      this.#prober.begin();
      return;
    }
    client.call('select', [database]).then(
      () => {
        if (this.#commands.ready === client) this.#prober.begin();
      },
      (cause: unknown) => {
        const error = storeErrorOf(cause);
        this.#lost(error);
        this.#commands.renew(error);
      },
    );
  }

  async #probe(): Promise<Probe> {
    const client = this.#commands.ready;
    if (client === null) throw new StoreError('connection', 'no connection');
    const answer = await PROBE(client, [`${this.prefix}:epoch`], [randomBytes(8).toString('hex')]);
    if (!Array.isArray(answer)) throw new StoreError('script', 'a probe was answered with what is none');
    return { epoch: String(answer[0]), storeNow: Number(answer[1]) };
  }

  #probed(ms: number, { epoch, storeNow }: Probe): void {
    this.#options.observer.probed(ms);
    this.#clockAheadMs = storeNow - performance.now();
    if (this.#epoch !== null && epoch !== this.#epoch) this.#missed = true;
    this.#epoch = epoch;
    this.#failure = null;
    // Who never waits has no bound of his own.
    this.#gate.probed(ms, this.#options.claimTimeoutMs() || DEFAULT_BOUND_MS);
    this.#told(null);
    this.#tellGap();
  }

  #refused(error: StoreError): void {
    this.#lost(error);
    // Another login may have been written to the file, another server may be the master.
    if (error.reason === 'auth' || error.reason === 'readonly') this.#commands.renew(error);
  }

  #lost(error: StoreError): void {
    this.#places.failed(error);
    this.#count(error);
    this.#gate.lost();
    this.#told(error);
  }

  /** Tells listeners of another state, and the observer what is wrong, once each. */
  #told(trouble: StoreError | null): void {
    const { observer } = this.#options;
    const { state } = this.#gate;
    if (trouble !== null && trouble.reason !== this.#trouble) {
      this.#trouble = trouble.reason;
      observer.troubled(trouble.reason, trouble.message);
    }
    if (state === 'up') this.#trouble = null;
    if (state === this.#toldState) return;
    const previous = this.#toldState;
    this.#toldState = state;
    observer.stateChanged(state, previous);
    this.#states.tell(state);
  }

  #tellGap(): void {
    if (!this.#missed || this.state === 'down' || !this.#subscription.active) return;
    this.#missed = false;
    this.#options.observer.gap();
    this.#gaps.tell();
  }

  #failed(cause: unknown): never {
    const error = storeErrorOf(cause);
    this.#failure = error;
    this.#count(error);
    if (error.reason === 'readonly' && this.state !== 'down') {
      this.#gate.lost();
      this.#told(error);
      this.#prober.hurry();
    }
    throw error;
  }

  #count(error: StoreError): void {
    this.#options.observer.failed(error.reason);
  }
}

function notConnected(): Promise<never> {
  return Promise.reject(new StoreError('connection', 'no connection to the store'));
}
