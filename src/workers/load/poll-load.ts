import type { LoadReport } from '../engine-load.ts';
import type { HttpResult } from '../http-request.ts';
import { type LoadRoutes, pathOf } from './load-routes.ts';

/** Asks one path of a worker; bounded by the time given, in milliseconds. */
export type Ask = (path: string, timeoutMs: number) => Promise<HttpResult>;

/** What a poll came to. `no_report`: the worker answers, but tells no load. */
export type PollOutcome =
  | { readonly kind: 'report'; readonly report: LoadReport }
  | { readonly kind: 'no_report' | 'failed'; readonly reason: string };

/** For all routes of one poll together. */
export const POLL_TIMEOUT_MS = 5_000;

/**
 * Asks a worker for its load, route by route until one brings a report. A worker that is silent on one route is not asked
 * on another: it would cost the whole time limit again.
 */
export async function pollLoad(routes: LoadRoutes, model: string, ask: Ask, clock: () => number): Promise<PollOutcome> {
  const deadline = clock() + POLL_TIMEOUT_MS;
  let outcome: PollOutcome = { kind: 'failed', reason: 'timeout' };
  for (const route of routes.order) {
    const leftMs = deadline - clock();
    if (leftMs <= 0) break;
    const path = pathOf(route, model);
    const result = await ask(path, leftMs);
    if (result.kind === 'timeout') return { kind: 'failed', reason: `${path}: timeout` };
    if (result.kind === 'failed') {
      outcome = { kind: 'failed', reason: `${path}: ${result.reason}` };
      continue;
    }
    const report = routes.answered(route, result, clock());
    if (report !== null) return { kind: 'report', report };
    outcome = { kind: 'no_report', reason: `${path}: HTTP ${result.status} without a load report` };
  }
  return outcome;
}
