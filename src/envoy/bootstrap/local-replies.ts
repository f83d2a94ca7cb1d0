import type { HttpErrorCode } from '../../util/error-codes.ts';
import { ERROR_CODE_HEADER } from '../names.ts';
import type { BootstrapMode } from './options.ts';
import { type Config, extension } from './typed.ts';

/** Which of Envoy's own replies: by response flags, or by an expression over status and details. */
type Match = { readonly flags: readonly string[] } | { readonly expression: string };

interface Reply {
  readonly why: string;
  readonly match: Match;
  /** Reason phrase of the status, as SMG's `type`. */
  readonly type: string;
  readonly code: HttpErrorCode;
  readonly message: string;
}

const code = (status: number, details: string): string => `response.code == ${status} && (${details})`;
const details = (text: string): string => `response.code_details == "${text}"`;
const detailsStart = (text: string): string => `response.code_details.startsWith("${text}")`;

const EXT_PROC_FAILED = [
  detailsStart('ext_proc_error'),
  detailsStart('spurious_message'),
  detailsStart('header_mutation_'),
  detailsStart('mismatch_between_content_length'),
].join(' || ');

/** What Envoy says of a request that it could not have placed, by the protocol it asks with (envoy 10.3, 11.2). */
const PICKER_FAILED: Readonly<Record<BootstrapMode, string>> = {
  'ext-proc': EXT_PROC_FAILED,
  'ext-proc-full-duplex': EXT_PROC_FAILED,
  'ext-authz': [detailsStart('ext_authz_error'), detailsStart('ext_authz_invalid')].join(' || '),
};

/**
 * Envoy's own errors and the envelope each gets (decisions 32, envoy 10.7); the first match wins. A mapper cannot name a
 * reason phrase, so each status has its own. Texts are constant, since Envoy's details can hold addresses.
 */
const REPLIES: readonly Reply[] = [
  {
    why: 'no worker: none known or healthy, a strict target that Envoy does not know, a circuit breaker, cluster gone',
    match: { flags: ['UH', 'UO', 'NC'] },
    type: 'Service Unavailable',
    code: 'no_available_workers',
    message: 'All workers are unavailable (circuit breaker open or unhealthy)',
  },
  {
    why: 'none of the workers that were tried accepted a connection',
    match: { flags: ['UF'] },
    type: 'Service Unavailable',
    code: 'call_upstream_connection_failed',
    message: 'No worker accepted the connection',
  },
  {
    why: 'the worker took the request and broke off before it answered',
    match: { flags: ['UC', 'UR', 'LR'] },
    type: 'Service Unavailable',
    code: 'call_upstream_request_error',
    message: 'The worker broke off before it answered',
  },
  {
    why: "the worker's answer was not HTTP",
    match: { flags: ['UPE'] },
    type: 'Bad Gateway',
    code: 'call_upstream_request_error',
    message: "The worker's answer could not be understood",
  },
  {
    why: 'route timeout',
    match: { flags: ['UT'] },
    type: 'Gateway Timeout',
    code: 'call_upstream_timeout',
    message: 'The worker took too long',
  },
  {
    why: 'idle timeout, the whole request had arrived',
    match: { expression: code(504, details('stream_idle_timeout')) },
    type: 'Gateway Timeout',
    code: 'call_upstream_timeout',
    message: 'The worker took too long',
  },
  {
    why: 'idle timeout, part of the request was missing',
    match: { expression: code(408, `${details('stream_idle_timeout')} || ${details('request_overall_timeout')}`) },
    type: 'Request Timeout',
    code: 'request_body_stalled',
    message: 'The request body stopped arriving',
  },
  {
    why: 'body over the limit; only where a route buffers bodies by its own processing mode',
    match: { expression: code(413, details('request_payload_too_large')) },
    type: 'Payload Too Large',
    code: 'request_body_too_large',
    message: 'The request body is too large',
  },
  {
    why: 'no route, as for CONNECT',
    match: { flags: ['NR'] },
    type: 'Not Found',
    code: 'route_not_found',
    message: 'Nothing is served here',
  },
];

/** What became of the question where a request goes, by status. */
const UNPLACED = [
  { status: 500, type: 'Internal Server Error', why: 'the service answered with something invalid' },
  { status: 503, type: 'Service Unavailable', why: 'the service is away (fail closed)' },
  { status: 504, type: 'Gateway Timeout', why: 'the service did not answer in time (fail closed)' },
] as const;

function unplaced(mode: BootstrapMode): readonly Reply[] {
  return UNPLACED.map(({ status, type, why }) => ({
    why,
    match: { expression: code(status, PICKER_FAILED[mode]) },
    type,
    code: 'picker_failed',
    message: 'The request could not be placed',
  }));
}

/**
 * `local_reply_config` of the HTTP connection manager. Without a default body format, so that the immediate responses of
 * the service, which Envoy counts as local replies too, pass as they are. `scope` is a further condition, such as the
 * route, as an expression.
 */
export function localReplyConfig(scope: string | null = null, mode: BootstrapMode = 'ext-proc'): Config {
  return { mappers: [...REPLIES, ...unplaced(mode)].map((reply) => mapper(reply, scope)) };
}

function mapper(reply: Reply, scope: string | null): Config {
  const error = { type: reply.type, code: reply.code, message: reply.message, param: null };
  return {
    '#': reply.why,
    filter: scope === null ? filter(reply.match) : { and_filter: { filters: [filter(reply.match), celFilter(scope)] } },
    headers_to_add: [
      { header: { key: ERROR_CODE_HEADER, value: reply.code }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },
    ],
    body_format_override: {
      content_type: 'application/json',
      text_format_source: { inline_string: JSON.stringify({ error }) },
    },
  };
}

function filter(match: Match): Config {
  if ('flags' in match) return { response_flag_filter: { flags: match.flags } };
  return celFilter(match.expression);
}

/** Lets pass what fulfils an expression over Envoy's attributes. */
export function celFilter(expression: string): Config {
  return {
    extension_filter: extension('cel', 'envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter', {
      expression,
    }),
  };
}
