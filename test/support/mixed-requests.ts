import { Agent, request as httpRequest } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';

/** One request, and when its client leaves. */
export interface Wish {
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `at once`: when the request is out; `mid-answer`: with the first bytes of the answer; else after these milliseconds. */
  readonly leave?: 'at once' | 'mid-answer' | number;
}

/** How a request went, as its client saw it: the status, that it was cut after it, or nothing. */
export type Outcome = `${number}` | `${number} cut` | 'cut' | 'left';

/** Clients of both versions over kept connections. */
export class MixedClients {
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sessions: ClientHttp2Session[];

  constructor(url: string, sessions = 4) {
    this.#url = new URL(url);
    this.#sessions = Array.from({ length: sessions }, () => connectHttp2(url));
    for (const session of this.#sessions) session.on('error', () => undefined); // each stream tells its own
  }

  close(): void {
    this.#agent.destroy();
    for (const session of this.#sessions) session.destroy();
  }

  http1(wish: Wish): Promise<Outcome> {
    return new Promise((resolve) => {
      const headers = { 'content-type': 'application/json', ...wish.headers };
      const request = httpRequest(new URL(wish.path, this.#url), { method: 'POST', agent: this.#agent, headers });
      let status = 0;
      let left = false;
      const leave = (): void => {
        left = true;
        request.destroy();
      };
      request.on('response', (response) => {
        status = response.statusCode ?? 0;
        response.on('data', () => {
          if (wish.leave === 'mid-answer') leave();
        });
        response.on('error', () => undefined); // `close` follows
        response.on('close', () => resolve(outcome(left, status, response.complete)));
      });
      request.on('error', () => undefined); // `close` follows
      request.on('close', () => {
        if (status === 0) resolve(outcome(left, 0, false));
      });
      request.end(wish.body, () => {
        if (wish.leave === 'at once') leave();
      });
      if (typeof wish.leave === 'number') setTimeout(leave, wish.leave);
    });
  }

  http2(wish: Wish, index: number): Promise<Outcome> {
    const session = this.#sessions[index % this.#sessions.length];
    if (session === undefined) throw new Error('no session');
    return new Promise((resolve) => {
      const fixed = { ':method': 'POST', ':path': wish.path, 'content-type': 'application/json' };
      const stream = session.request({ ...fixed, ...wish.headers });
      let status = 0;
      let left = false;
      let ended = false;
      const leave = (): void => {
        left = true;
        stream.close(constants.NGHTTP2_CANCEL);
      };
      stream.on('response', (headers) => {
        status = Number(headers[':status']);
      });
      stream.on('data', () => {
        if (wish.leave === 'mid-answer' && !left) leave();
      });
      stream.on('end', () => {
        ended = true;
      });
      stream.on('error', () => undefined); // `close` follows
      stream.on('close', () => resolve(outcome(left, status, ended && stream.rstCode === 0)));
      stream.end(wish.body, () => {
        if (wish.leave === 'at once') leave();
      });
      if (typeof wish.leave === 'number') setTimeout(leave, wish.leave);
    });
  }
}

function outcome(left: boolean, status: number, complete: boolean): Outcome {
  if (left) return 'left';
  if (status === 0) return 'cut';
  return complete ? `${status}` : `${status} cut`;
}

/** Runs the jobs with so many at a time; resolves with how often each result came. */
export async function tally<T extends string>(
  jobs: readonly (() => Promise<T>)[],
  atATime: number,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  let next = 0;
  const runner = async (): Promise<void> => {
    for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) {
      const result = await job();
      counts[result] = (counts[result] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atATime }, runner));
  return counts;
}
