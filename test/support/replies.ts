import { type Answer, ask } from './http.ts';

/** Where a turn stands in its conversation: the first of a key, a later one, or one of a key that was there before. */
export type Kind = 'first' | 'later' | 'known';

/** What a client saw of one request. */
export interface Reply {
  /** Conversation it belongs to. */
  readonly key: string;
  readonly kind: Kind;
  /** `performance.now()` when it was due and when it was answered. */
  readonly at: number;
  readonly ms: number;
  /** Worker by its own word, empty when none answered. */
  readonly worker: string;
  /** `x-smg-decision`; empty where Envoy placed the request without the service. */
  readonly decision: string;
  /** What came instead of an answer; null when all was well. */
  readonly error: string | null;
}

/** Where a request names its conversation: `rid` in the body, which is then read, or a header. */
export type KeyPlace = 'rid' | 'header';

export interface Question {
  readonly url: string;
  readonly key: string;
  readonly kind: Kind;
  readonly turn: number;
  readonly place: KeyPlace;
  /** When it was due, now when unset. */
  readonly at?: number;
}

/** One turn of a conversation; never rejects. */
export async function converse({ url, key, kind, turn, place, at = performance.now() }: Question): Promise<Reply> {
  const name = `${key}_t${turn}`;
  const body = { model: 'sim-model', ...(place === 'rid' ? { rid: name } : {}), messages: [] };
  const headers = place === 'header' ? { 'x-smg-routing-key': name } : {};
  const reply = (worker: string, decision: string, error: string | null): Reply => ({
    ...{ key, kind, at, ms: performance.now() - at },
    ...{ worker, decision, error },
  });
  let answer: Answer;
  try {
    answer = await ask(url, { path: '/v1/chat/completions', body, headers });
  } catch (error) {
    return reply('', '', String(error));
  }
  const { status, headers: got, text } = answer;
  const served = got['x-sim-worker'] ?? '';
  return reply(served, got['x-smg-decision'] ?? '', status === 200 && served !== '' ? null : `${status} ${text}`);
}

const ENDS = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as const;

/** The replies of a run, and what to ask of them. */
export class Replies {
  readonly all: readonly Reply[];

  constructor(all: readonly Reply[]) {
    this.all = all;
  }

  /** Those that were due within these times. */
  between(from: number, to: number): Replies {
    return new Replies(this.all.filter(({ at }) => at >= from && at < to));
  }

  where(is: (reply: Reply) => boolean): Replies {
    return new Replies(this.all.filter(is));
  }

  of(...kinds: readonly Kind[]): Replies {
    return new Replies(this.all.filter(({ kind }) => kinds.includes(kind)));
  }

  get errors(): readonly string[] {
    return this.all.flatMap(({ key, error }) => (error === null ? [] : [`${key}: ${error}`]));
  }

  /** Those that the service placed. */
  get picked(): Replies {
    return this.where(({ decision }) => decision !== '');
  }

  /** Requests that Envoy placed without the service. */
  get unpicked(): number {
    return this.all.filter(({ decision, error }) => decision === '' && error === null).length;
  }

  /** Conversations that met more than one worker, with their workers in the order in which they were met. */
  get splits(): readonly string[] {
    const met = new Map<string, string[]>();
    for (const { key, worker, error } of this.all) {
      if (error !== null) continue;
      const workers = met.get(key) ?? [];
      if (!workers.includes(worker)) workers.push(worker);
      met.set(key, workers);
    }
    return [...met].filter(([, workers]) => workers.length > 1).map(([key, workers]) => `${key}: ${workers.join(' ')}`);
  }

  /** Requests a second, from the first to the last. */
  get perSecond(): number {
    const times = this.all.map(({ at }) => at);
    const [first, last] = times.reduce(([low, high], at) => [Math.min(low, at), Math.max(high, at)] as const, ENDS);
    return this.all.length < 2 ? 0 : (this.all.length * 1000) / (last - first);
  }

  get conversations(): number {
    return new Set(this.all.map(({ key }) => key)).size;
  }

  /** Milliseconds of an answer at a share of all, 0 to 1, by the nearest rank; NaN of none. */
  quantile(share: number): number {
    const sorted = this.all.map(({ ms }) => ms).sort((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  }
}
