import type { Answer } from '../support/http.ts';
import type { SeenRequest } from './engine.ts';
import type { Request } from './scenario.ts';

/** What one side made of a request, told without addresses and ids. */
export interface Outcome {
  /** Index of the engine that answered; null when none did. */
  readonly worker: number | null;
  /** Engines that saw the request, in order. */
  readonly tried: readonly number[];
  readonly status: number;
  /** `type code "message"` of an error that no engine made; null for an answer of an engine. */
  readonly error: string | null;
  /** `x-smg-routed-worker-id`: names the engine that answered (`own`), another one, or is absent (`none`). */
  readonly stamp: string;
  /** `x-smg-error-code`. */
  readonly code: string;
  readonly retryAfter: string;
  /** `x-request-id`: the client's (`echo`), `made` with its prefix, or what it is. */
  readonly id: string;
}

export function readOutcome(
  request: Request,
  answer: Answer,
  seen: readonly SeenRequest[],
  urls: readonly string[],
): Outcome {
  // SMG makes the answer of a successful rerank itself.
  const worker =
    answer.headers['x-engine'] === undefined && answer.status >= 300 ? null : (seen.at(-1)?.engine ?? null);
  return {
    worker,
    tried: seen.map((each) => each.engine),
    status: answer.status,
    error: worker === null ? readError(answer) : null,
    stamp: readStamp(answer, worker, urls),
    code: answer.headers['x-smg-error-code'] ?? 'none',
    retryAfter: answer.headers['retry-after'] ?? 'none',
    id: readId(request, answer.headers['x-request-id']),
  };
}

function readError(answer: Answer): string {
  if (answer.status < 400) return 'none';
  try {
    const { type, code, message } = answer.json.error;
    return `${type} ${code} "${message}"`;
  } catch {
    return `text "${answer.text}"`;
  }
}

function readStamp(answer: Answer, worker: number | null, urls: readonly string[]): string {
  const stamp = answer.headers['x-smg-routed-worker-id'];
  if (stamp === undefined) return 'none';
  if (worker !== null && stamp === urls[worker]) return 'own';
  return urls.includes(stamp) ? `engine ${urls.indexOf(stamp)}` : stamp;
}

function readId(request: Request, id: string | undefined): string {
  if (id === undefined) return 'none';
  const { headers = [] } = request;
  if (headers.some((value, at) => at % 2 === 1 && value === id)) return 'echo';
  const made = /^([a-z]+[-_])[A-Za-z0-9]{24}$/u.exec(id);
  return made === null ? id : `made ${made[1]}`;
}
