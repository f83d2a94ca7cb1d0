import { type HttpResult, isAbsent, isOk } from './http-request.ts';
import { MAX_RANKS } from './worker-url.ts';

/** Where engines tell how they were started, in the order in which SMG 1.11.0 is seen to ask; the second is the older name. */
export const SERVER_INFO_PATHS = ['/server_info', '/get_server_info'] as const;
/** SGLang asks its schedulers before it answers. */
export const SERVER_INFO_TIMEOUT_MS = 5_000;
export const SERVER_INFO_MAX_BYTES = 4 * 1024 * 1024;

/** What an engine said of its data-parallel ranks. */
export type DpSize =
  | { readonly kind: 'size'; readonly size: number }
  /** It has no ranks that can be addressed: it answers, and tells none. */
  | { readonly kind: 'none' }
  /** The question has to be asked again. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Asks one path of a worker. */
export type AskServerInfo = (path: string) => Promise<HttpResult>;

/** How many data-parallel ranks an engine has (policies 2.4). Never rejects. */
export async function askDpSize(ask: AskServerInfo): Promise<DpSize> {
  for (const path of SERVER_INFO_PATHS) {
    const answer = await ask(path);
    if (answer.kind === 'answer' && isAbsent(answer.status)) continue;
    return readDpSize(path, answer);
  }
  return { kind: 'none' };
}

function readDpSize(path: string, answer: HttpResult): DpSize {
  if (answer.kind === 'timeout') return unknown(path, 'timeout');
  if (answer.kind === 'failed') return unknown(path, answer.reason);
  if (!isOk(answer.status)) return unknown(path, `HTTP ${answer.status}`);
  const info = answer.complete ? parse(answer.body.toString('utf8')) : undefined;
  if (typeof info !== 'object' || info === null) return unknown(path, 'no JSON object');
  const size: unknown = 'dp_size' in info ? info.dp_size : undefined;
  if (size === undefined || size === null) return { kind: 'none' };
  if (!isSize(size)) return unknown(path, `dp_size is no number from 1 to ${MAX_RANKS}`);
  return { kind: 'size', size };
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_RANKS;
}

function unknown(path: string, reason: string): DpSize {
  return { kind: 'unknown', reason: `its data-parallel ranks are not known: ${path}: ${reason}` };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
