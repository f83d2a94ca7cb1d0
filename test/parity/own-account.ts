import type { Reading } from './compared-metrics.ts';
import type { Outcome } from './outcome.ts';

/** How the points are named in which our counters are held to our own answers. */
export const OWN_ACCOUNT = 'by our own answers, ';

/** Statuses that send a request to the next worker. */
const RETRIED: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
/** Statuses of a request that is refused for what it is, before it is placed. */
const INVALID: ReadonlySet<number> = new Set([400, 413]);

/**
 * What our counters must have grown by, told from the answers that our clients got. SMG counts some of these otherwise, by
 * intention; so that this hides no miscount of ours, they are held to what was seen.
 */
export function accountOf(outcomes: readonly Outcome[]): Reading {
  const placed = outcomes.filter(({ tried }) => tried.length > 0);
  const refused = outcomes.filter(({ tried }) => tried.length === 0);
  const invalid = refused.filter(({ status }) => INVALID.has(status));
  const shed = refused.filter(({ code }) => code === 'worker_overload_protection_shed');
  const timeouts = placed.filter(({ status }) => status === 504);
  const failed = placed.filter(({ status }) => status >= 500 && status !== 504);
  const exhausted = placed.filter(({ tried, status }) => tried.length > 1 && RETRIED.has(status));
  const account: [string, number][] = [
    ['smg_worker_selection_total', placed.length],
    ['smg_router_requests_total', outcomes.length - invalid.length],
    ['smg_router_request_body_path_total', outcomes.length],
    ['smg_worker_retries_total', placed.reduce((sum, { tried }) => sum + tried.length - 1, 0)],
    ['smg_worker_retries_exhausted_total', exhausted.length],
    ['smg_worker_errors_total timeout', timeouts.length],
    ['smg_worker_errors_total backend_error', failed.length],
    ['smg_router_request_errors_total timeout', timeouts.length],
    ['smg_router_request_errors_total backend_error', failed.length + shed.length],
    ['smg_router_request_errors_total validation_error', invalid.length],
    ['smg_router_request_errors_total no_workers', refused.length - invalid.length - shed.length],
  ];
  for (const status of new Set(placed.map((outcome) => outcome.status))) {
    const count = placed.filter((outcome) => outcome.status === status).length;
    account.push([`smg_router_upstream_responses_total ${status}`, count]);
  }
  return new Map(account);
}

/** The same from what the counters grew by. */
export function countedOf(grown: Reading): Reading {
  const counted = new Map<string, number>();
  for (const [series, value] of grown) {
    const name = accountName(series);
    counted.set(name, (counted.get(name) ?? 0) + value);
  }
  return counted;
}

/** A series of `readCounters` without the labels that the account does not tell apart. */
function accountName(series: string): string {
  const [name = ''] = series.split('{');
  const kind = /\b(?:error_type|status_code)="([^"]*)"/u.exec(series)?.[1];
  return kind === undefined ? name : `${name} ${kind}`;
}
