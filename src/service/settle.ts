import type { Discovery } from '../discovery/discovery.ts';
import type { Registry } from '../workers/registry.ts';

/** Longest wait for a source that cannot be read, where others brought workers. */
const LONGEST_WAIT_MS = 30_000;

/**
 * Calls the fleet settled once every source was read. Before that Envoy gets no endpoints and keeps those that it has: a
 * service that starts while the API server is away must not take them from it (decisions 24). After a while it goes on
 * with the workers of the other sources; with none at all it never does. Answers with the undo.
 */
export function settleWhenRead(
  registry: Pick<Registry, 'markSettled' | 'current' | 'subscribe'>,
  discovery: Pick<Discovery, 'isRead' | 'onTurn'>,
): () => void {
  let late = false;
  const undo: (() => void)[] = [];
  const stop = (): void => {
    for (const each of undo.splice(0)) each();
  };
  const consider = (): void => {
    if (!discovery.isRead && !(late && registry.current.workers.length > 0)) return;
    stop();
    registry.markSettled();
  };
  const timer = setTimeout(() => {
    late = true;
    consider();
  }, LONGEST_WAIT_MS);
  timer.unref();
  undo.push(() => clearTimeout(timer), discovery.onTurn(consider), registry.subscribe(consider));
  consider();
  return stop;
}
