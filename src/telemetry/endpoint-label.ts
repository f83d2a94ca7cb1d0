/** Values of the label `endpoint`: SMG's where it has one for the path, else ours. */
export const ENDPOINT_LABELS = [
  'chat',
  'completions',
  'messages',
  'count_tokens',
  'generate',
  'embeddings',
  'classify',
  'rerank',
  'responses',
  'interactions',
  'audio_transcriptions',
  'realtime',
  'other',
] as const;
export type EndpointLabel = (typeof ENDPOINT_LABELS)[number];

const BY_PATH: ReadonlyMap<string, EndpointLabel> = new Map([
  ['/v1/chat/completions', 'chat'],
  ['/v1/completions', 'completions'],
  ['/v1/messages', 'messages'],
  ['/v1/messages/count_tokens', 'count_tokens'],
  ['/generate', 'generate'],
  ['/v1/embeddings', 'embeddings'],
  ['/v1/classify', 'classify'],
  ['/rerank', 'rerank'],
  ['/v1/rerank', 'rerank'],
  ['/v1/responses', 'responses'],
  ['/v1/interactions', 'interactions'],
  ['/v1/audio/transcriptions', 'audio_transcriptions'],
  ['/v1/realtime', 'realtime'],
]);

/** Label of a `:path`, with or without a query. */
export function endpointLabel(path: string): EndpointLabel {
  const known = BY_PATH.get(path);
  if (known !== undefined) return known;
  const query = path.indexOf('?');
  return (query < 0 ? undefined : BY_PATH.get(path.slice(0, query))) ?? 'other';
}
