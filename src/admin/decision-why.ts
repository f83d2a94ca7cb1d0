/** Decisions in plain words: why a request went where it went. */
import { isPass, type RecordedDecision } from '../picker/decision-ring.ts';
import type { CacheBranch, Decision, PrefixBranch, Refusal, RingBranch, StickyBranch } from '../routing/decision.ts';

/** One or two sentences, without a key in them. */
export function whyOf({ outcome, why }: Pick<RecordedDecision, 'outcome' | 'why'>): string {
  if (why !== null) return isPass(why) ? PASSES[why] : `Refused: ${WORDS_OF_CODES[why] ?? why}.`;
  if (outcome === null) return 'Nothing is known of it.';
  return outcome.kind === 'refused' ? refused(outcome) : placed(outcome);
}

const PASSES = {
  not_settled: 'No pick: just after the start nothing was known of the workers yet, so Envoy chose.',
  deadline: 'No pick: the decision took too long, so Envoy chose.',
  internal_error: 'No pick: the service failed inside, so Envoy chose. Its log has the cause.',
  protocol_error: 'No pick: the message of Envoy could not be read, so Envoy chose.',
} as const;

const WORDS_OF_CODES: Readonly<Record<string, string>> = {
  json_parse_error: 'the body is no JSON object, or its rid or model is of a wrong type',
  request_body_too_large: 'the body is larger than --max-payload-size',
  prefill_request_failed: 'the prefill worker could not be reached, or did not answer in time',
  prefill_upstream_error: 'the prefill worker answered with an error',
};

function refused({ reason, leg, detail, strict, trail }: Refusal): string {
  const more = detail === null ? '' : ` (${detail})`;
  if (reason === 'model_not_found') return 'Refused: no worker serves the model that the request names.';
  if (reason === 'worker_overload_protection_shed') return 'Refused: every worker of the model is overloaded.';
  if (reason === 'endpoint_not_supported') return 'Refused: prefill and decode workers do not serve this endpoint.';
  if (reason === 'no_compatible_pd_pair') return `Refused: no prefill worker fits a decode worker${more}.`;
  if (strict || trail.ringBranch === 'target_worker_miss') {
    return 'Refused: the request names the one worker that may serve it, and that one cannot.';
  }
  return `Refused: no ${leg === 'single' ? '' : `${leg} `}worker can take it now${more}.`;
}

function placed(decision: Decision): string {
  const { trail, policy, prefill, strict } = decision;
  const parts = [ofTrail(decision)];
  if (strict && trail.ringBranch !== 'target_worker_hit') parts.push('No other worker may serve it.');
  if (trail.pastVeto) parts.push('All workers of the model are overloaded; this was the least loaded of them.');
  if (prefill !== null)
    parts.push(`Its prefill goes to ${prefill.worker.name} (${branchesOf(prefill).join(', ') || policy}).`);
  return parts.join(' ');
}

function ofTrail({ trail, policy }: Decision): string {
  const { stickyBranch, ringBranch, cacheBranch, prefixBranch, matchRatio } = trail;
  const chosen = byPolicy(policy, cacheBranch, prefixBranch, matchRatio);
  if (stickyBranch !== null) return STICKY[stickyBranch](chosen);
  if (ringBranch !== null) return RING[ringBranch];
  return `The request has no key that would keep it on a worker; ${chosen}.`;
}

const STICKY: Readonly<Record<StickyBranch, (chosen: string) => string>> = {
  occupied_hit: () => 'Its key was pinned to this worker, and the worker can serve: the pin held.',
  occupied_miss: (chosen) => `Its key was pinned to a worker that cannot serve now; ${chosen}, and the pin moved here.`,
  vacant: (chosen) => `Its key was not pinned yet; ${chosen}, and the key is pinned here from now on.`,
  cap_respill: (chosen) =>
    `Its key was pinned, but its worker had too much to do (of this key, or at all), so it was placed again; ${chosen}.`,
  no_routing_id: (chosen) => `The request has no key; ${chosen}.`,
  no_healthy_workers: () => 'No worker could take the key.',
};

const RING: Readonly<Record<RingBranch, string>> = {
  target_worker_hit: 'The request names this worker (x-smg-target-worker), and no other may serve it.',
  target_worker_miss: 'The request names a worker that cannot serve.',
  routing_key_hit: 'The hash of its key falls on this worker: the same key always does while the fleet stays the same.',
  random_fallback: 'The request has no key, so the hash ring gave it to a random worker.',
  no_healthy_workers: 'No worker of the hash ring could take it.',
};

const CACHE: Readonly<Record<CacheBranch, string>> = {
  tree_match: 'this worker holds most of its prompt',
  hash_hit: 'this worker holds the beginning of its prompt',
  spill: 'the worker that holds its prompt had too much to do, and this one had less',
  hash_spill: 'the worker that holds its prompt had too much to do, and this one had less',
  short_request: 'its prompt is too short to look for, and this worker had the least to do',
  expected_wait_fallback: 'no worker holds enough of its prompt, and this one had the shortest wait',
  kv_pressure_expected_wait: 'caches are nearly full, so the shortest wait decided',
  first_healthy_fallback: 'it was the first worker that could serve',
};

const PREFIX: Readonly<Record<PrefixBranch, string>> = {
  ring_hit: 'the hash of its prefix falls on this worker',
  load_balance_walk: 'the worker of its prefix had too much to do, and this one comes next on the ring',
  fallback_least_load: 'no worker was below the load limit, and this one had the least to do',
  no_routing_key: 'it has no prefix to hash',
  no_healthy_workers: 'no worker could take it',
};

function byPolicy(policy: string, cache: CacheBranch | null, prefix: PrefixBranch | null, ratio: number): string {
  if (cache !== null) {
    const known = ratio > 0 ? ` (${Math.round(ratio * 100)} % of the prompt is known)` : '';
    return `${policy} chose this worker: ${CACHE[cache]}${known}`;
  }
  return prefix === null ? `${policy} chose this worker` : `${policy} chose this worker: ${PREFIX[prefix]}`;
}

/** Branches that a decision took, from the outside in; empty where a policy without branches decided. */
export function branchesOf({ trail }: Pick<Decision, 'trail'>): readonly string[] {
  const { stickyBranch, ringBranch, cacheBranch, prefixBranch } = trail;
  return [stickyBranch, ringBranch, cacheBranch, prefixBranch].filter((branch) => branch !== null);
}
