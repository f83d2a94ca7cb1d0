import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ask, Endpoint } from './endpoints.ts';
import type { Knobs } from './knobs.ts';

/** Sends one whole answer, or its first half and a reset when `drop` is set. Returns the tokens sent. */
export async function answerWhole(response: ServerResponse, endpoint: Endpoint, ask: Ask, knobs: Knobs, drop: boolean) {
  await pauseFor(knobs.firstTokenMs + knobs.tokenMs * ask.words.length, response);
  const body = Buffer.from(JSON.stringify(endpoint.reply(ask)));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  if (!drop) response.end(body);
  else response.write(body.subarray(0, body.length >> 1), () => response.socket?.resetAndDestroy());
}

/**
 * Sends an answer as server-sent events, one a token; with `drop` the connection is reset halfway. Without pauses the
 * events go out in one write, so that a benchmark measures the way and not the worker.
 */
export async function answerEvents(
  response: ServerResponse,
  endpoint: Endpoint,
  ask: Ask,
  knobs: Knobs,
  drop: boolean,
) {
  const events = endpoint.events?.(ask);
  if (events === undefined) return;
  await pauseFor(knobs.firstTokenMs, response);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const words = drop ? ask.words.slice(0, ask.words.length >> 1) : ask.words;
  if (knobs.tokenMs === 0) {
    response.write(events.head + words.map(events.token).join(''));
  } else {
    response.write(events.head);
    for (const word of words) {
      await pauseFor(knobs.tokenMs, response);
      if (response.destroyed) return;
      response.write(events.token(word));
    }
  }
  if (!drop) response.end(events.tail);
  else response.write(':\n\n', () => response.socket?.resetAndDestroy());
}

/** Waits, but no longer than the client does. */
async function pauseFor(ms: number, response: ServerResponse): Promise<void> {
  if (ms <= 0 || response.destroyed) return;
  const gone = new AbortController();
  const abort = () => gone.abort();
  response.once('close', abort);
  await pause(ms, undefined, { signal: gone.signal }).catch(() => undefined);
  response.off('close', abort);
}
