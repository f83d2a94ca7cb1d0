/**
 * The two ways of writing a candidate (sticky-sessions 3.6). A list holds one or two ids, best first.
 */
export type WriteMode = 'front' | 'behind';

/** Puts `id` first and keeps one more: the key stays where it went. */
export function front(candidates: readonly string[], id: string): readonly string[] {
  for (const other of candidates) if (other !== id) return [id, other];
  return [id];
}

/** Puts `id` last, dropping the oldest when there are two already: the key returns to its oldest remembered worker. */
export function behind(candidates: readonly string[], id: string): readonly string[] {
  const newest = candidates.at(-1);
  return newest === undefined ? [id] : [newest, id];
}

/**
 * Candidates after another worker than the one picked served the request, written as a re-placement of that mode is;
 * null when the list already says so. Under `front` the worker that served becomes the first; under `behind` it has to be
 * on the list, and the key goes on to prefer the older one (sticky-sessions 11.4, decisions 2).
 */
export function afterServed(
  candidates: readonly string[],
  servedId: string,
  mode: WriteMode,
): readonly string[] | null {
  if (mode === 'front') return candidates[0] === servedId ? null : front(candidates, servedId);
  return candidates.includes(servedId) ? null : behind(candidates, servedId);
}
