import { setTimeout as pause } from 'node:timers/promises';
import { converse, type KeyPlace, Replies, type Reply } from './replies.ts';

export interface SprayOptions {
  /** `http://host:port` of Envoy, which spreads the turns over the replicas. */
  readonly url: string;
  readonly conversations: number;
  readonly turns: number;
  /** First requests of a conversation that are sent at once, 1 when unset. */
  readonly racing?: number;
  /** Conversations that go on at the same time, 32 when unset. */
  readonly abreast?: number;
  readonly place: KeyPlace;
  /** Sets apart conversations of several runs. */
  readonly prefix?: string;
  /** Milliseconds between an answer and the next turn; none when unset. */
  readonly restMs?: number;
  readonly onReply?: (reply: Reply) => void;
}

/** Plays conversations to their end, each turn after the answers to the one before. */
export async function spray(options: SprayOptions): Promise<Replies> {
  const { url, conversations, turns, racing = 1, abreast = 32, place, prefix = 'c', restMs = 0, onReply } = options;
  const replies: Reply[] = [];
  let next = 0;
  const play = async (key: string): Promise<void> => {
    for (let turn = 1; turn <= turns; turn++) {
      if (turn > 1 && restMs > 0) await pause(restMs);
      const kind = turn === 1 ? 'first' : 'later';
      const asked = Array.from({ length: turn === 1 ? racing : 1 }, () => converse({ url, key, kind, turn, place }));
      for (const reply of await Promise.all(asked)) {
        replies.push(reply);
        onReply?.(reply);
      }
    }
  };
  const lane = async (): Promise<void> => {
    while (next < conversations) await play(`${prefix}${next++}`);
  };
  await Promise.all(Array.from({ length: abreast }, lane));
  return new Replies(replies);
}
