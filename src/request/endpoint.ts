/** What the path of a request says about its body (sticky-sessions 2.1, decisions 34 and 35). Hot path. */

export type EndpointKind =
  | 'chat'
  | 'completions'
  | 'messages'
  | 'count_tokens'
  | 'generate'
  | 'embeddings'
  | 'classify'
  | 'rerank'
  | 'responses'
  | 'interactions'
  | 'transcriptions'
  | 'realtime'
  | 'other';

/** Types that an endpoint takes as `rid`; `none` where it knows no such member. */
export type RidRule = 'string' | 'string_or_list' | 'none';

export interface Endpoint {
  readonly kind: EndpointKind;
  /** True when its body is a JSON object with a `model`, so that anything else is an error (decisions 35). */
  readonly isJson: boolean;
  readonly rid: RidRule;
}

const OTHER: Endpoint = { kind: 'other', isJson: false, rid: 'none' };
const REALTIME: Endpoint = { kind: 'realtime', isJson: false, rid: 'none' };
const RERANK = json('rerank', 'string_or_list');

const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map([
  ['/v1/chat/completions', json('chat', 'string')],
  ['/v1/completions', json('completions', 'string')],
  ['/v1/messages', json('messages', 'string')],
  ['/v1/messages/count_tokens', json('count_tokens', 'none')],
  ['/generate', json('generate', 'string')],
  ['/v1/embeddings', json('embeddings', 'string')],
  ['/v1/classify', json('classify', 'string')],
  ['/rerank', RERANK],
  ['/v1/rerank', RERANK],
  ['/v1/responses', json('responses', 'none')],
  ['/v1/interactions', json('interactions', 'none')],
  ['/v1/audio/transcriptions', { kind: 'transcriptions', isJson: false, rid: 'none' }],
  ['/v1/realtime', REALTIME],
]);

/** The endpoint of a request path. Its query is ignored; the rest must match exactly, as in SMG's routes. */
export function endpointOf(path: string): Endpoint {
  const known = ENDPOINTS.get(path);
  if (known !== undefined) return known;
  const bare = withoutQuery(path);
  return ENDPOINTS.get(bare) ?? (bare.startsWith('/v1/realtime/') ? REALTIME : OTHER);
}

const ID_PREFIXES: readonly (readonly [suffix: string, prefix: string])[] = [
  ['/chat/completions', 'chatcmpl-'],
  ['/completions', 'cmpl-'],
  ['/generate', 'gnt-'],
  ['/responses', 'resp-'],
  ['/messages', 'msg_'],
];

/** Prefix of a generated request id, by the end of the path (sticky-sessions 1.7). */
export function requestIdPrefix(path: string): string {
  const bare = withoutQuery(path);
  for (const [suffix, prefix] of ID_PREFIXES) {
    if (bare.endsWith(suffix)) return prefix;
  }
  return 'req-';
}

function withoutQuery(path: string): string {
  const query = path.indexOf('?');
  return query < 0 ? path : path.slice(0, query);
}

function json(kind: EndpointKind, rid: RidRule): Endpoint {
  return { kind, isJson: true, rid };
}
