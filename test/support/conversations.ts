import OpenAI from 'openai';

/** One turn of a conversation as its client saw it. */
export interface Turn {
  readonly conversation: string;
  /** From 1. */
  readonly turn: number;
  /** Worker that answered, by its own word (`x-sim-worker`); empty when none did. */
  readonly worker: string;
  /** `x-smg-routed-worker-id`, empty when absent. */
  readonly stamp: string;
  /** What the client got instead of an answer; null when all was well. */
  readonly error: string | null;
}

/** Where a turn names its conversation: `rid` in the body, a header with the same lineage, or a header without any. */
export type KeyPlace = 'rid' | 'header' | 'plain header';

export interface Play {
  /** `http://host:port` of Envoy. */
  readonly url: string;
  readonly conversations: number;
  readonly turns: number;
  /** Conversations that go on at the same time, 16 when unset. */
  readonly concurrency?: number;
  readonly key: KeyPlace;
  /** All take a turn before any takes its next one, so that none is over before the others. */
  readonly abreast?: boolean;
  /** Number of the first turn, 1 when unset: a play goes on where another stopped. */
  readonly from?: number;
  /** Set apart conversations of several plays on one stack. */
  readonly prefix?: string;
  /** Called after each turn. */
  readonly onTurn?: (done: number) => void;
}

/** The official client, without retries of its own: what it meets is what the stack did. */
export function openaiClient(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-test', maxRetries: 0, timeout: 30_000 });
}

/**
 * Plays conversations to their end, each turn after the answer to the one before. A third of them streams, a third does
 * not, a third alternates; now and then a turn says that it is a retry.
 */
export async function play(options: Play): Promise<Played> {
  const { url, conversations, turns, concurrency = 16, key, prefix = 'c', from = 1, onTurn } = options;
  const client = openaiClient(url);
  const played: Turn[] = [];
  const take = async (number: number, turn: number): Promise<void> => {
    played.push(await takeTurn(client, key, `${prefix}${number}`, number, turn));
    onTurn?.(played.length);
  };
  const lane = async (first: number): Promise<void> => {
    const own: number[] = [];
    for (let number = first; number < conversations; number += concurrency) own.push(number);
    if (options.abreast) {
      for (let turn = from; turn < from + turns; turn++) for (const number of own) await take(number, turn);
    } else {
      for (const number of own) for (let turn = from; turn < from + turns; turn++) await take(number, turn);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, index) => lane(index)));
  return new Played(played);
}

async function takeTurn(client: OpenAI, key: KeyPlace, id: string, number: number, turn: number): Promise<Turn> {
  const retry = (number + turn) % 7 === 0 ? `_r${(number % 3) + 1}` : '';
  const name = key === 'plain header' ? id : `${id}_t${turn}${retry}`;
  const streams = number % 3 === 0 || (number % 3 === 1 && turn % 2 === 0);
  try {
    const { response, text } = await chat(client, key, name, turn, streams);
    const worker = response.headers.get('x-sim-worker') ?? '';
    const stamp = response.headers.get('x-smg-routed-worker-id') ?? '';
    const error = text.startsWith(`${worker} says`) ? null : `an answer of another worker: ${text}`;
    return { conversation: id, turn, worker, stamp, error };
  } catch (error) {
    return { conversation: id, turn, worker: '', stamp: '', error: String(error) };
  }
}

async function chat(client: OpenAI, key: KeyPlace, name: string, turn: number, streams: boolean) {
  const messages = Array.from({ length: turn * 2 - 1 }, (_, index) => ({
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `message ${index} of the conversation`,
  }));
  // The client passes on members it does not know.
  const body = { model: 'sim-model', messages, ...(key === 'rid' ? { rid: name } : {}) };
  const options = key === 'rid' ? {} : { headers: { 'x-smg-routing-key': name } };
  if (!streams) {
    const { data, response } = await client.chat.completions.create(body, options).withResponse();
    return { response, text: data.choices[0]?.message.content ?? '' };
  }
  const { data, response } = await client.chat.completions.create({ ...body, stream: true }, options).withResponse();
  let text = '';
  let finished = false;
  for await (const chunk of data) {
    text += chunk.choices[0]?.delta.content ?? '';
    finished ||= chunk.choices[0]?.finish_reason === 'stop';
  }
  if (!finished) throw new Error('the stream broke off');
  return { response, text };
}

/** All turns of a play, and what to ask of them. */
export class Played {
  readonly turns: readonly Turn[];

  constructor(turns: readonly Turn[]) {
    this.turns = turns;
  }

  get errors(): readonly string[] {
    return this.turns.flatMap(({ conversation, turn, error }) =>
      error === null ? [] : [`${conversation} turn ${turn}: ${error}`],
    );
  }

  /** Workers of each conversation, in order of turns, changes only. */
  get paths(): ReadonlyMap<string, readonly string[]> {
    const paths = new Map<string, string[]>();
    for (const { conversation, worker } of this.turns) {
      const path = paths.get(conversation) ?? [];
      if (path.at(-1) !== worker) path.push(worker);
      paths.set(conversation, path);
    }
    return paths;
  }

  /** Conversations that did not stay on one worker, each with its workers. */
  get splits(): readonly string[] {
    return [...this.paths].filter(([, path]) => path.length > 1).map(([id, path]) => `${id}: ${path.join(' ')}`);
  }

  /** Answers whose `x-smg-routed-worker-id` is not the URL of the worker that gave them. */
  wrongStamps(workers: readonly { readonly name: string; readonly url: string }[]): readonly string[] {
    const urls = new Map(workers.map(({ name, url }) => [name, url]));
    return this.turns
      .filter(({ worker, stamp, error }) => error === null && stamp !== urls.get(worker))
      .map(({ conversation, turn, worker, stamp }) => `${conversation} turn ${turn}: ${stamp} for ${worker}`);
  }

  /** Conversations by the worker of their first turn. */
  get spread(): Readonly<Record<string, number>> {
    const spread: Record<string, number> = {};
    for (const [first = ''] of this.paths.values()) spread[first] = (spread[first] ?? 0) + 1;
    return spread;
  }
}
