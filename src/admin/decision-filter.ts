import { hasKey, spellingsOf } from '../picker/decision-keys.ts';
import type { RecordedDecision } from '../picker/decision-ring.ts';
import { branchOf, type DecisionResult, resultOf } from './decision-json.ts';

/** Which decisions are wanted. Null: all. */
export interface DecisionFilter {
  /** Id or name of the worker, also of the one of its prefill. */
  readonly worker: string | null;
  readonly branch: string | null;
  readonly keyHash: string | null;
  /** As its client sends it. */
  readonly key: string | null;
  readonly result: DecisionResult | null;
}

/** Names of the query of these filters. */
export const FILTER_QUERY = ['worker', 'branch', 'key_hash', 'key', 'result'] as const;

const RESULTS: readonly string[] = ['placed', 'refused', 'passed'] satisfies DecisionResult[];

export type FilterResult =
  | { readonly ok: true; readonly filter: DecisionFilter }
  | { readonly ok: false; readonly problem: string };

export function readFilter(query: (name: string) => string | undefined): FilterResult {
  const keyHash = query('key_hash') ?? null;
  const result = query('result') ?? null;
  if (keyHash !== null && !/^[0-9a-f]{12}$/.test(keyHash)) {
    return wrong(`key_hash ${JSON.stringify(keyHash)}: expected 12 hex digits, as records and the log have them`);
  }
  if (result !== null && !isResult(result)) {
    return wrong(`result ${JSON.stringify(result)}: expected ${RESULTS.join(', ')}`);
  }
  const [worker, branch, key] = [query('worker') ?? null, query('branch') ?? null, query('key') ?? null];
  return { ok: true, filter: { worker, branch, keyHash, key, result } };
}

function wrong(problem: string): FilterResult {
  return { ok: false, problem };
}

function isResult(text: string): text is DecisionResult {
  return RESULTS.includes(text);
}

/** Tells which records are wanted. */
export function matcherOf({ worker, branch, keyHash, key, result }: DecisionFilter): (r: RecordedDecision) => boolean {
  const spellings = key === null ? null : spellingsOf(key);
  return (record) => {
    const { outcome } = record;
    if (result !== null && resultOf(record) !== result) return false;
    if (branch !== null && branchOf(record) !== branch) return false;
    if (keyHash !== null && record.keyHash !== keyHash) return false;
    if (worker === null && spellings === null) return true;
    if (outcome?.kind !== 'placed') return false;
    if (spellings !== null && !hasKey(outcome, spellings)) return false;
    if (worker === null) return true;
    return [outcome.worker, outcome.prefill?.worker].some((each) => each?.id === worker || each?.name === worker);
  };
}
