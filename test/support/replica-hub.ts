import type { ReplicaChannel } from '../../src/replicas/replica-channel.ts';

interface Message {
  readonly from: string;
  readonly topic: string;
  readonly text: string;
}

/**
 * Channels of several replicas in one process. Messages arrive when the test says so, in order at each replica; the test also
 * says which are lost, and who cannot reach the others.
 */
export class ReplicaHub {
  readonly #members = new Map<string, ModelReplicaChannel>();
  /** Says of a message on its way to a replica whether it is lost. */
  loses: (from: string, to: string, text: string) => boolean = () => false;

  join(name: string): ModelReplicaChannel {
    const channel = new ModelReplicaChannel(name, (message) => this.#send(message));
    this.#members.set(name, channel);
    return channel;
  }

  /** The process is gone, without a word. */
  kill(name: string): void {
    this.#members.delete(name);
  }

  /** How long messages of a replica are under way, in the units of `deliver`. */
  delayOf: (from: string) => number = () => 0;
  #now = 0;

  /** What has been under way for long enough arrives, and what is said in answer to it. */
  deliver(now = this.#now): void {
    this.#now = now;
    for (let rounds = 0; rounds < 100; rounds++) {
      let any = false;
      for (const member of [...this.#members.values()]) if (member.arrive(now)) any = true;
      if (!any) return;
    }
    throw new Error('the replicas talk without end');
  }

  #send(message: Message): void {
    for (const [name, member] of this.#members) {
      if (!member.cut && !(name !== message.from && this.loses(message.from, name, message.text)))
        member.take(message, this.#now + this.delayOf(message.from));
    }
  }
}

export class ModelReplicaChannel implements ReplicaChannel {
  readonly self: string;
  /** The way to the others is down, both ways. */
  cut = false;
  /** Messages published, also those that did not go out. */
  readonly published: string[] = [];
  readonly #send: (message: Message) => void;
  readonly #listeners = new Map<string, Set<(text: string) => void>>();
  #arriving: { readonly message: Message; readonly due: number }[] = [];

  constructor(self: string, send: (message: Message) => void) {
    this.self = self;
    this.#send = send;
  }

  publish(topic: string, text: string): boolean {
    this.published.push(text);
    if (this.cut) return false;
    this.#send({ from: this.self, topic, text });
    return true;
  }

  subscribe(topic: string, listener: (message: string) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  take(message: Message, due: number): void {
    this.#arriving.push({ message, due });
  }

  /** False when nothing was due. */
  arrive(now: number): boolean {
    const arriving = this.#arriving.filter(({ due }) => due <= now);
    this.#arriving = this.#arriving.filter(({ due }) => due > now);
    for (const { message } of arriving) {
      for (const listener of this.#listeners.get(message.topic) ?? []) listener(message.text);
    }
    return arriving.length > 0;
  }
}
