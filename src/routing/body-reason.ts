/**
 * Why a request's body is read, or why it is not: the `reason` label of `smg_router_request_body_path_total`. The first
 * five are SMG's (sticky-sessions 4.2; `pd` is of disaggregation, named as the real SMG 1.11.0 does); the others tell that
 * a model's further names may stand in it, or why the headers were enough or the body out of reach.
 */
export const BODY_REASONS = [
  'routing_key_override',
  'policy_needs_text',
  'model_ambiguous',
  'worker_mutates_body',
  'pd',
  'model_alias',
  'header_only',
  'no_body',
  'not_json',
  'mode_cannot_grant',
] as const;
export type BodyReason = (typeof BODY_REASONS)[number];
