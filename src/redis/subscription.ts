import type { Redis } from 'ioredis';
import { Listeners } from '../util/listeners.ts';
import { LastingClient } from './lasting-client.ts';
import { type StoreError, storeErrorOf } from './store-error.ts';

/** How often the other side is asked for a sign of life; the client gives a silent one up. */
const PING_MS = 1000;

export interface SubscriptionEvents {
  create(): Redis;
  /** From now on every message of the channels comes. */
  active(): void;
  /** Messages are lost until it is active again. */
  lost(error: StoreError, wasActive: boolean): void;
}

/** Channels that are listened to over one connection, again on the next one when it is lost. */
export class Subscription {
  readonly #channels = new Map<string, Listeners<[message: string]>>();
  readonly #client: LastingClient<Redis>;
  readonly #events: SubscriptionEvents;
  readonly #pings: NodeJS.Timeout;
  #active = false;

  constructor(events: SubscriptionEvents) {
    this.#events = events;
    this.#client = new LastingClient<Redis>({
      create: () => events.create(),
      ready: (client) => this.#join(client),
      ended: (error) => {
        const wasActive = this.#active;
        this.#active = false;
        events.lost(error, wasActive);
      },
    });
    this.#pings = setInterval(() => this.#ping(), PING_MS);
  }

  start(): void {
    this.#client.start();
  }

  get active(): boolean {
    return this.#active;
  }

  subscribe(channel: string, listener: (message: string) => void): () => void {
    let listeners = this.#channels.get(channel);
    if (listeners === undefined) {
      listeners = new Listeners();
      this.#channels.set(channel, listeners);
      const client = this.#client.ready;
      // Before it is active all channels are about to be joined at once, and this one after them.
      if (client !== null) this.#ask(client, [channel]);
    }
    return listeners.add(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#pings);
    this.#channels.clear();
    await this.#client.close();
  }

  #join(client: Redis): void {
    client.on('message', (channel, message) => this.#channels.get(channel)?.tell(message));
    this.#ask(client, [...this.#channels.keys()]);
  }

  /** Without any channel the connection is no subscriber yet, and as good as active. */
  #ask(client: Redis, channels: readonly string[]): void {
    const asked = channels.length === 0 ? client.ping() : client.subscribe(...channels);
    asked.then(
      () => {
        if (this.#active || this.#client.ready !== client) return;
        this.#active = true;
        this.#events.active();
      },
      (error: unknown) => {
        if (this.#client.ready === client) this.#client.renew(storeErrorOf(error));
      },
    );
  }

  #ping(): void {
    this.#client.ready?.ping().catch(() => {
      // Its connection ends, too, or it would not fail.
    });
  }
}
