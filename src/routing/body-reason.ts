/**
 * Why a request's body is read, or why it is not: the `reason` label of `smg_router_request_body_path_total`. The first
 * three are SMG's (sticky-sessions 4.2); the others tell why the headers were enough or the body out of reach.
 */
export const BODY_REASONS = [
  'routing_key_override',
  'policy_needs_text',
  'model_ambiguous',
  'header_only',
  'no_body',
  'not_json',
  'mode_cannot_grant',
] as const;
export type BodyReason = (typeof BODY_REASONS)[number];
