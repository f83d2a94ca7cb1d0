import type { ReplicaChannel } from '../replicas/replica-channel.ts';
import type { RedisLink } from './redis-link.ts';

/** Messages between replicas over the store that they share, on channels `{prefix}:<topic>`. */
export class RedisReplicaChannel implements ReplicaChannel {
  readonly self: string;
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.self = link.self;
    this.#link = link;
  }

  publish(topic: string, message: string): boolean {
    return this.#link.publish(`${this.#link.prefix}:${topic}`, message);
  }

  subscribe(topic: string, listener: (message: string) => void): () => void {
    return this.#link.subscribe(`${this.#link.prefix}:${topic}`, listener);
  }
}
