import type { LoadReport, RankLoad } from '../engine-load.ts';

/** A report of these ranks; what a rank leaves out is 0. */
export function loadReport(ranks: readonly Partial<RankLoad>[], at: number): LoadReport {
  const whole = ranks.map((rank) => ({ ...IDLE_RANK, ...rank }));
  const sum = (of: (rank: RankLoad) => number): number => whole.reduce((total, rank) => total + of(rank), 0);
  return {
    at,
    ranks: whole,
    runningRequests: sum((rank) => rank.runningRequests),
    waitingRequests: sum((rank) => rank.waitingRequests),
    waitingUncachedTokens: sum((rank) => rank.waitingUncachedTokens),
    genThroughput: sum((rank) => rank.genThroughput),
    tokenUsage: whole.length === 0 ? 0 : sum((rank) => rank.tokenUsage) / whole.length,
  };
}

/** What a report of an engine says of one of its ranks; all of it where it tells of one only, or nothing of that one. */
export function reportOfRank(report: LoadReport, rank: number | null): LoadReport {
  if (rank === null || report.ranks.length === 1) return report;
  const own = report.ranks.find((each) => each.rank === rank);
  return own === undefined ? report : loadReport([own], report.at);
}

const IDLE_RANK: RankLoad = {
  rank: 0,
  runningRequests: 0,
  waitingRequests: 0,
  waitingUncachedTokens: 0,
  totalRequests: 0,
  usedTokens: 0,
  maxTokens: 0,
  tokenUsage: 0,
  genThroughput: 0,
  cacheHitRate: 0,
  utilization: 0,
  maxRunningRequests: 0,
  transfer: null,
};
