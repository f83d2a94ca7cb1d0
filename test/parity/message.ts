import type { Outgoing } from '../support/http.ts';
import { type Mark, markHeader } from './marks.ts';
import type { Request } from './scenario.ts';

export const CHAT = '/v1/chat/completions';

/** A scenario's request as it goes over the wire. */
export function toMessage(request: Request, mark: Mark): Outgoing {
  const headers = ['content-type', 'application/json', ...markHeader(mark)];
  if (request.key !== undefined) headers.push('x-smg-routing-key', request.key);
  if (request.hint !== undefined) headers.push('x-smg-routing-tokens', request.hint);
  if (request.target !== undefined) headers.push('x-smg-target-worker', request.target);
  headers.push(...(request.headers ?? []));
  return { path: request.path ?? CHAT, headers, body: request.raw ?? toBody(request) };
}

function toBody(request: Request): string {
  const { path = CHAT, text = 'hello', model = 'm', rid, members = {} } = request;
  const body: Record<string, unknown> = { ...prompt(path, text), ...members };
  if (model !== null) body['model'] = model;
  if (rid !== undefined) body['rid'] = rid;
  return JSON.stringify(body);
}

function prompt(path: string, text: string): Record<string, unknown> {
  switch (path) {
    case CHAT:
      return { messages: [{ role: 'user', content: text }] };
    case '/v1/messages':
    case '/v1/messages/count_tokens':
      return { max_tokens: 8, messages: [{ role: 'user', content: text }] };
    case '/v1/completions':
      return { prompt: text };
    case '/generate':
      return { text };
    case '/rerank':
    case '/v1/rerank':
      return { query: text, documents: ['d'] };
    default:
      return { input: text };
  }
}
