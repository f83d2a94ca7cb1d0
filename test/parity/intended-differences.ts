import type { Difference } from './difference.ts';
import { OWN_ACCOUNT } from './own-account.ts';
import {
  EMPTY_NAME_AND_MESSAGE,
  isToldBy,
  MODEL_NOT_READ,
  PINNED_WORKER_FAILS,
  RID_ON_RERANK,
  TWO_MODELS_LISTED,
} from './whole-scenarios.ts';

/** A difference that is meant, and the place in docs/differences-from-smg.md that says why. */
export interface IntendedDifference {
  /** How the first cell of its line begins, or words of its sentence. */
  readonly line: string;
  explains(difference: Difference): boolean;
}

const JSON_ERROR = 'invalid_request_error json_parse_error';
const OUR_JSON_ERROR = 'Bad Request json_parse_error';
/** Why SMG counts a body as it does where it is not needed, and why we do. */
const SMG_BODY =
  /^smg_router_request_body_path_total\{.*reason="(retryable|retry_forfeited|pure_forward|no_content_length|no_available_worker)"/u;
const OUR_BODY = /^smg_router_request_body_path_total\{.*reason="(header_only|no_body|not_json|policy_needs_text)"/u;
/** What SMG counts for each attempt. */
const BY_ATTEMPT =
  /^smg_(worker_selection|router_upstream_responses|worker_errors|manual_policy_branch|consistent_hashing_policy_branch|routing_key_source)_total/u;

const more = ({ smg, ours }: Difference): boolean => Number(smg) > Number(ours);
const about = (difference: Difference, ...words: string[]): boolean =>
  words.some((word) => difference.scenario.includes(word));
const flagged = (difference: Difference, flag: string): boolean => difference.stand.flags.includes(flag);
const isMetric = ({ point }: Difference): boolean => point.startsWith('smg_');

export const INTENDED_DIFFERENCES: readonly IntendedDifference[] = [
  {
    line: 'A request whose pinned worker fails',
    explains: (difference) =>
      about(difference, 'the pinned worker fails') &&
      !flagged(difference, '--disable-retries') &&
      isToldBy(PINNED_WORKER_FAILS, difference),
  },
  {
    line: 'A body is read for its `model`',
    explains: (difference) => about(difference, 'the body not being read') && isToldBy(MODEL_NOT_READ, difference),
  },
  {
    line: "Only the first id that a worker's `/v1/models` lists",
    explains: (difference) =>
      about(difference, 'workers that list two models') && isToldBy(TWO_MODELS_LISTED, difference),
  },
  {
    line: '`/v1/rerank` drops',
    explains: (difference) =>
      about(difference, 'rid on /v1/rerank')
        ? isToldBy(RID_ON_RERANK, difference)
        : about(difference, 'request ids') &&
          /model="unknown"|model="m"/u.test(difference.point) &&
          isMetric(difference),
  },
  {
    line: '`x-smg-routed-worker-id` is absent on rerank',
    explains: ({ request, point, smg, ours }) =>
      (request?.path ?? '').endsWith('/rerank') && point === 'stamp' && smg === 'none' && ours === 'own',
  },
  {
    line: 'A target miss, and a request that nobody can take',
    explains: (difference) =>
      about(difference, 'miss', 'nobody is available', 'the index counts') &&
      /^smg_(worker_retries|consistent_hashing_policy_branch|manual_policy_branch)/u.test(difference.point) &&
      more(difference),
  },
  {
    line: 'Selections, answers and worker errors are counted for each attempt',
    explains: (difference) =>
      about(difference, 'of one worker', 'of every worker') && BY_ATTEMPT.test(difference.point) && more(difference),
  },
  {
    line: 'A retry under `round_robin`',
    explains: (difference) =>
      about(difference, 'of one worker') &&
      ((difference.point === 'tried' && difference.smg === '0 1' && difference.ours === '0 2') ||
        (difference.point === 'worker' && difference.smg === 'engine 1' && difference.ours === 'engine 2')),
  },
  {
    line: '`smg_worker_retries_exhausted_total` counts',
    explains: (difference) =>
      flagged(difference, '--disable-retries') &&
      difference.point.startsWith('smg_worker_retries_exhausted_total') &&
      difference.ours === '0',
  },
  {
    line: 'With `--disable-retries` a request is placed',
    explains: (difference) =>
      flagged(difference, '--disable-retries') &&
      /^smg_(worker_selection|router_requests)_total\{.*model="(unknown|m)"/u.test(difference.point),
  },
  {
    line: '`smg_router_request_body_path_total` has',
    explains: (difference) =>
      (SMG_BODY.test(difference.point) && difference.ours === '0') ||
      (OUR_BODY.test(difference.point) && difference.smg === '0'),
  },
  {
    line: '`smg_router_request_body_path_total` leaves',
    explains: (difference) =>
      about(difference, '/rerank', '/v1/responses', 'count_tokens', 'request ids') &&
      difference.point.startsWith('smg_router_request_body_path_total') &&
      !more(difference),
  },
  {
    line: 'The override reads every body',
    explains: (difference) =>
      difference.point.includes('reason="routing_key_override"') && isMetric(difference) && more(difference),
  },
  {
    line: '`smg_router_upstream_responses_total` counts the gateway',
    explains: ({ point, ours }) =>
      /^smg_router_upstream_responses_total\{error_code="[a-z]/u.test(point) && ours === '0',
  },
  {
    line: '`smg_router_request_errors_total` counts',
    explains: ({ point }) => point.startsWith('smg_router_request_errors_total'),
  },
  {
    line: 'The label `endpoint` of embeddings',
    explains: ({ point }) =>
      /^smg_router_requests_total\{.*endpoint="(other|embeddings|classify|count_tokens)"/u.test(point),
  },
  {
    line: 'The model label of an unknown model',
    explains: (difference) =>
      about(difference, 'nobody serves', 'two models in one fleet') &&
      /^smg_router_requests_total\{.*model="(nope|c||other)"/u.test(difference.point),
  },
  {
    line: '400 `json_parse_error` has no `x-smg-error-code` header',
    explains: ({ point, smg, ours }) => point === 'code header' && smg === 'none' && ours === 'json_parse_error',
  },
  {
    line: '400 `json_parse_error` has the type',
    explains: ({ point, smg, ours }) =>
      point === 'error' && smg.startsWith(JSON_ERROR) && ours.startsWith(OUR_JSON_ERROR),
  },
  {
    line: 'A wrong `rid` type on',
    explains: ({ request, point, smg, ours }) =>
      ['/generate', '/v1/embeddings', '/v1/classify'].includes(request?.path ?? '') &&
      ((point === 'status' && smg === '422' && ours === '400') ||
        (point === 'error' && smg.startsWith('text ') && ours.startsWith(OUR_JSON_ERROR))),
  },
  {
    line: 'SMG 1.13 counts implicit keys as `implicit_key_hit`',
    explains: (difference) =>
      about(difference, '1.13: implicit keys') &&
      /branch_total\{branch="(implicit|routing)_key_hit"\}/u.test(difference.point),
  },
  {
    line: 'A token hint is looked up among prompts of its cache salt',
    explains: (difference) =>
      about(difference, 'a token hint beside a cache salt') &&
      /^(tried|worker|smg_cache_aware_.*)$/u.test(difference.point),
  },
  {
    line: 'The whole body is checked',
    explains: (difference) =>
      about(difference, 'an empty name of a model') && isToldBy(EMPTY_NAME_AND_MESSAGE, difference),
  },
];

/** The entry that explains a difference. What our counters say of our own answers is never a matter of intention. */
export function explain(difference: Difference): IntendedDifference | undefined {
  if (difference.point.startsWith(OWN_ACCOUNT)) return undefined;
  return INTENDED_DIFFERENCES.find((entry) => entry.explains(difference));
}
