import type { Difference } from './difference.ts';

/**
 * What differs in a scenario that is about a difference: the points of its steps and the counters after it, each as
 * `SMG -> ours`. `any` stands for what SMG leaves to chance, `nobody` for an empty value. Texts of errors, and labels that are the same
 * everywhere, are left out.
 */
export type WholeScenario = Readonly<Record<string, string>>;

const CONSTANT_LABELS =
  /(?:backend_type="regular"|connection_mode="http"|router_type="http"|worker_type="regular"|error_code=""),?/gu;

/** True when the difference is one of these, with these values. */
export function isToldBy(whole: WholeScenario, { step, point, smg, ours }: Difference): boolean {
  const name = point.replaceAll(CONSTANT_LABELS, '').replace(',}', '}').replace('{}', '');
  const told = whole[step === 0 ? name : `step ${step} ${name}`];
  return (
    told === `${toldValue(point, smg)} -> ${toldValue(point, ours)}` || told === `any -> ${toldValue(point, ours)}`
  );
}

function toldValue(point: string, value: string): string {
  const [kind = ''] = point === 'error' ? value.split(' "') : [value];
  return kind === '' ? 'nobody' : kind;
}

export const PINNED_WORKER_FAILS: WholeScenario = {
  'step 3 status': '503 -> 200',
  'step 3 attempts': '5 -> 2',
  'step 3 tried': '0 0 0 0 0 -> 0 1',
  'step 3 worker': 'engine 0 -> engine 1',
  'step 5 tried': '0 -> 1',
  'step 5 worker': 'engine 0 -> engine 1',
  'smg_worker_retries_exhausted_total{endpoint="chat"}': '1 -> 0',
  'smg_worker_cb_outcomes_total{outcome="failure"}': '5 -> 1',
  'smg_worker_cb_outcomes_total{outcome="success"}': '2 -> 3',
  'smg_worker_selection_total{model="m",policy="round_robin"}': '7 -> 3',
  'smg_routing_key_source_total{source="rid"}': '7 -> 3',
  'smg_worker_retries_total{endpoint="chat"}': '4 -> 1',
  'smg_worker_errors_total{error_type="backend_error"}': '5 -> 0',
  'smg_manual_policy_branch_total{branch="occupied_hit"}': '6 -> 2',
  'smg_router_upstream_responses_total{status_code="503"}': '5 -> 0',
  'smg_router_upstream_responses_total{status_code="200"}': '2 -> 3',
};

export const MODEL_NOT_READ: WholeScenario = {
  'step 1 status': '404 -> 200',
  'step 1 error': 'Not Found model_not_found -> of an engine',
  'step 1 code header': 'model_not_found -> none',
  'step 1 stamp': 'none -> own',
  'step 1 attempts': '0 -> 1',
  'step 1 tried': 'nobody -> 0',
  'step 1 worker': 'none -> engine 0',
  'smg_router_request_errors_total{endpoint="chat",error_type="no_workers",model="nope"}': '1 -> 0',
  'smg_router_request_body_path_total{path="buffered",reason="retryable"}': '1 -> 0',
  'smg_router_upstream_responses_total{error_code="model_not_found",status_code="404"}': '1 -> 0',
  'smg_router_requests_total{endpoint="chat",model="nope"}': '1 -> 0',
  'smg_worker_selection_total{model="m",policy="round_robin"}': '0 -> 1',
  'smg_worker_cb_outcomes_total{outcome="success"}': '0 -> 1',
  'smg_router_request_body_path_total{path="streamed",reason="header_only"}': '0 -> 1',
  'smg_router_requests_total{endpoint="chat",model="m"}': '0 -> 1',
  'smg_router_upstream_responses_total{status_code="200"}': '0 -> 1',
};

export const TWO_MODELS_LISTED: WholeScenario = {
  'step 2 status': '404 -> 200',
  'step 2 error': 'Not Found model_not_found -> of an engine',
  'step 2 code header': 'model_not_found -> none',
  'step 2 stamp': 'none -> own',
  'step 2 attempts': '0 -> 1',
  'step 2 tried': 'nobody -> 1',
  'step 2 worker': 'none -> engine 1',
  'smg_router_request_body_path_total{path="buffered",reason="retryable"}': '2 -> 0',
  'smg_router_requests_total{endpoint="chat",model="a"}': '1 -> 0',
  'smg_router_requests_total{endpoint="chat",model="b"}': '1 -> 0',
  'smg_worker_cb_outcomes_total{outcome="success"}': '1 -> 2',
  'smg_router_request_errors_total{endpoint="chat",error_type="no_workers",model="b"}': '1 -> 0',
  'smg_worker_selection_total{model="a",policy="round_robin"}': '1 -> 0',
  'smg_router_upstream_responses_total{status_code="200"}': '1 -> 2',
  'smg_router_upstream_responses_total{error_code="model_not_found",status_code="404"}': '1 -> 0',
  'smg_worker_selection_total{model="unknown",policy="round_robin"}': '0 -> 2',
  'smg_router_request_body_path_total{path="streamed",reason="header_only"}': '0 -> 2',
  'smg_router_requests_total{endpoint="chat",model="unknown"}': '0 -> 2',
  'smg_worker_pool_size{model="b"}': '0 -> 2',
};

export const RID_ON_RERANK: WholeScenario = {
  'step 1 tried': 'any -> 0',
  'step 1 worker': 'any -> engine 0',
  'step 2 tried': 'any -> 1',
  'step 2 worker': 'any -> engine 1',
  'step 3 tried': 'any -> 0',
  'step 3 worker': 'any -> engine 0',
  'step 4 status': '200 -> 400',
  'step 4 error': 'of an engine -> Bad Request json_parse_error',
  'step 4 code header': 'none -> json_parse_error',
  'step 4 attempts': '1 -> 0',
  'step 4 tried': 'any -> nobody',
  'step 4 worker': 'any -> none',
  'smg_router_requests_total{endpoint="rerank",model="unknown"}': '3 -> 0',
  'smg_router_upstream_responses_total{status_code="200"}': '4 -> 3',
  'smg_router_request_body_path_total{path="buffered",reason="routing_key_override"}': '1 -> 4',
  'smg_worker_selection_total{model="m",policy="round_robin"}': '1 -> 3',
  'smg_worker_selection_total{model="unknown",policy="round_robin"}': '3 -> 0',
  'smg_worker_cb_outcomes_total{outcome="success"}': '4 -> 3',
  'smg_manual_policy_branch_total{branch="occupied_hit"}': '0 -> 1',
  'smg_manual_policy_branch_total{branch="vacant"}': '0 -> 1',
  smg_manual_policy_cache_entries: '0 -> 1',
  'smg_routing_key_source_total{source="rid"}': '0 -> 2',
  'smg_router_requests_total{endpoint="rerank",model="m"}': '0 -> 2',
  'smg_router_request_errors_total{endpoint="rerank",error_type="validation_error",model="unknown"}': '0 -> 1',
};

export const EMPTY_NAME_AND_MESSAGE: WholeScenario = {
  'step 1 status': '400 -> 200',
  'step 1 error': 'invalid_request_error 400 -> of an engine',
  'step 1 stamp': 'none -> own',
  'step 1 attempts': '0 -> 1',
  'step 1 tried': 'nobody -> 0',
  'step 1 worker': 'none -> engine 0',
  'step 2 status': '404 -> 200',
  'step 2 error': 'Not Found model_not_found -> of an engine',
  'step 2 code header': 'model_not_found -> none',
  'step 2 stamp': 'none -> own',
  'step 2 attempts': '0 -> 1',
  'step 2 tried': 'nobody -> 1',
  'step 2 worker': 'none -> engine 1',
  'smg_router_requests_total{endpoint="chat",model=""}': '1 -> 0',
  'smg_worker_selection_total{model="m",policy="round_robin"}': '0 -> 1',
  'smg_worker_selection_total{model="unknown",policy="round_robin"}': '0 -> 1',
  'smg_worker_cb_outcomes_total{outcome="success"}': '0 -> 2',
  'smg_router_requests_total{endpoint="chat",model="m"}': '0 -> 1',
  'smg_router_requests_total{endpoint="chat",model="unknown"}': '0 -> 1',
  'smg_router_upstream_responses_total{status_code="200"}': '0 -> 2',
};
