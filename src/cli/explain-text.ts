/** An explanation for people: short lines, and the workers as a table. */
import type { ExplainedLeg, ExplainedWorker, Explanation } from '../explain/explanation.ts';
import { LONGEST_CELL } from './admin-answer.ts';
import { renderTable } from './table.ts';

/** What `POST /explain` answers. */
export type ExplainAnswer = Explanation & { readonly why: string };

/** Workers that are shown of each leg: those named first, then those that could be chosen. */
const MOST_ROWS = 20;

export function explainText(answer: ExplainAnswer): string {
  const { legs } = answer;
  const parts = legs.map((leg) => (legs.length === 1 ? '' : `\n${leg.leg} leg\n`) + legText(leg));
  return `${rowsText(headRows(answer))}${parts.join('')}`;
}

type Row = readonly [name: string, text: string];

function headRows(answer: ExplainAnswer): readonly Row[] {
  const { result, worker, worker_id: id, refusal, body, timings_ms: timings, strict, fallbacks, known_models } = answer;
  const rows: Row[] = [
    [result, placeText(worker, id) ?? (refusal === null ? 'Envoy chooses' : `${refusal.status} ${refusal.code}`)],
    ['why', answer.why],
  ];
  if (refusal !== null) rows.push(['message', refusal.message]);
  if (refusal !== null && refusal.retry_after_secs !== null)
    rows.push(['retry', `after ${refusal.retry_after_secs} s`]);
  if (known_models !== null) rows.push(['models', known_models.join(', ') || 'none: no worker lists one']);
  if (result === 'placed') rows.push(['then', strict ? 'nobody else' : fallbacks.join(', ') || 'whom Envoy chooses']);
  const opaque = body.opaque === null ? '' : `; it tells nothing: ${body.opaque}`;
  rows.push(['body', `${body.read ? `read, ${body.bytes} bytes` : 'not read'} (${body.reason})${opaque}`]);
  rows.push(['took', `${timings.read} ms to read, ${timings.decide} ms to decide`]);
  return rows;
}

function placeText(name: string | null, id: string | null): string | null {
  if (id === null) return null;
  return name === null || name === id ? id : `${name} (${id})`;
}

function legText(leg: ExplainedLeg): string {
  const { key, pin } = leg;
  const rows: Row[] = [
    ['model', leg.alias ? `${leg.model} (the request has another name for it)` : leg.model],
    ['policy', policyText(leg)],
  ];
  if (key === null) rows.push(['key', 'none']);
  else {
    const suffix = key.dropped_suffix === '' ? '' : `, without its ${key.dropped_suffix}`;
    rows.push(['key', `from ${key.source ?? 'somewhere'}, hash ${key.hash}${suffix}; ${USES[key.use]}`]);
  }
  if (pin !== null) rows.push(['pin', pinText(pin)]);
  return `${rowsText(rows)}${workersText(leg.workers)}`;
}

const USES = {
  pin: 'keeps the conversation on a worker',
  ring: 'is hashed onto the ring',
  count: 'only counts what is in flight',
} as const;

function policyText({ policy, sticky_by, branch, policy_branch, match_ratio, past_veto }: ExplainedLeg): string {
  const above = sticky_by === 'none' ? '' : ` under ${sticky_by === 'manual' ? 'its own pins' : 'the sticky override'}`;
  const branches = [branch, policy_branch].filter((each) => each !== null && each !== 'policy').join(', ');
  const ratio = match_ratio === null ? '' : `, ${Math.round(match_ratio * 100)} % of the prompt known`;
  const veto = past_veto ? ', all are overloaded' : '';
  return `${policy}${above}${branches === '' ? '' : `: ${branches}`}${ratio}${veto}`;
}

function pinText({ held, candidates, idle_secs, after, inflight_cap, asks_store }: NonNullable<ExplainedLeg['pin']>) {
  const limit = inflight_cap === 0 ? '' : ` of ${inflight_cap}`;
  const each = candidates.map(
    ({ worker_id, serves, in_flight }) =>
      `${worker_id} (${serves ? `${in_flight}${limit} in flight` : 'cannot serve'})`,
  );
  const parts = [held ? `${each.join(', then ')}, used ${idle_secs ?? '?'} s ago` : 'not held', AFTER[after]];
  if (asks_store) parts.push('the shared store is asked, where another replica may have been first');
  return parts.join('; ');
}

const AFTER = { written: 'would be written', kept: 'stays', none: 'stays' } as const;

function workersText(workers: readonly ExplainedWorker[]): string {
  if (workers.length === 0) return '';
  const rank = ({ place, eligible }: ExplainedWorker) => place ?? (eligible ? 1e6 : 1e7);
  const shown = [...workers].sort((one, other) => rank(one) - rank(other)).slice(0, MOST_ROWS);
  const names = [
    ...new Set(shown.flatMap(({ weights }) => Object.keys(weights))),
  ] as (keyof ExplainedWorker['weights'])[];
  const rows = shown.map((worker) => [
    worker.worker,
    worker.place === null ? '' : worker.place === 0 ? 'picked' : `fallback ${worker.place}`,
    eligibleText(worker),
    String(worker.in_flight),
    ...names.map((name) => String(worker.weights[name] ?? '-')),
  ]);
  const header = ['WORKER', 'PLACE', 'ELIGIBLE', 'IN FLIGHT', ...names.map((name) => name.toUpperCase())];
  const more = workers.length > shown.length ? `and ${workers.length - shown.length} more (--json has all)\n` : '';
  return `\n${renderTable(header, rows, LONGEST_CELL)}${more}`;
}

function eligibleText({ eligible, keeps_pins, why_not }: ExplainedWorker): string {
  return eligible ? 'yes' : `${keeps_pins ? 'its pins only' : 'no'}: ${why_not.join(', ')}`;
}

function rowsText(rows: readonly Row[]): string {
  // As a table, so that names and columns stand as elsewhere; its header is the first row.
  const [first, ...rest] = rows;
  return first === undefined ? '' : renderTable(first, rest);
}
