import { NO_WORKERS, type Worker } from '../workers/worker.ts';

const peersByList = new WeakMap<readonly Worker[], ReadonlyMap<number | null, readonly Worker[]>>();

/** The workers of a list that are that data-parallel rank of their engines. Always the same list for the same one. */
export function peersOf(workers: readonly Worker[], rank: number): readonly Worker[] {
  let byRank = peersByList.get(workers);
  if (byRank === undefined) {
    byRank = groupByRank(workers);
    peersByList.set(workers, byRank);
  }
  return byRank.get(rank) ?? NO_WORKERS;
}

function groupByRank(workers: readonly Worker[]): ReadonlyMap<number | null, readonly Worker[]> {
  const byRank = new Map<number | null, Worker[]>();
  for (const worker of workers) {
    const peers = byRank.get(worker.rank);
    if (peers === undefined) byRank.set(worker.rank, [worker]);
    else peers.push(worker);
  }
  return byRank;
}
