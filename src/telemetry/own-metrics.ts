/** The service's own metrics (interface 11, envoy 1 rule 25). */
import { STORE_ERROR_REASONS, STORE_STATES } from '../pins/shared/pin-backend.ts';
import { ASK_RESULTS, SYNC_RESULTS } from '../pins/shared/pin-observer.ts';
import { CACHE_INDEX_BRANCHES, KEY_PLACES } from '../routing/decision.ts';
import type { HttpErrorCode } from '../util/error-codes.ts';
import { counter, gauge, histogram, label } from './definition.ts';

const DECISION_BUCKETS = [
  0.000005, 0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
] as const;
const LAG_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Kinds of the messages by which Envoy asks: those of an ext_proc stream, and the one of ext_authz. */
export const MESSAGE_KINDS = [
  'request_headers',
  'request_body',
  'request_trailers',
  'response_headers',
  'response_body',
  'response_trailers',
  'check_request',
  'unknown',
] as const;

/** Kinds of our answers: those on an ext_proc stream, with the wish for more time, and the two of ext_authz. */
export const ANSWER_KINDS = [
  'request_headers',
  'request_body',
  'request_trailers',
  'response_headers',
  'response_body',
  'response_trailers',
  'immediate_response',
  'more_time',
  'ok_response',
  'denied_response',
] as const;

/** Limits of the own HTTP/2 transport (RFC 9113 10.5), by the names that it gives them. */
export const TRANSPORT_LIMITS = [
  'header_list',
  'header_block',
  'continuations',
  'frame_size',
  'streams',
  'unanswered_resets',
  'provoked_resets',
  'pings',
  'settings',
  'empty_frames',
  'idle_frames',
  'window_updates',
  'send_queue',
  'slow_reader',
  'preface',
  'keepalive',
] as const;

/** Why TLS handshakes on the gRPC port come to nothing, by the names that the transport gives them. */
export const HANDSHAKE_FAILURES = [
  'plaintext',
  'no_certificate',
  'untrusted',
  'refused_by_peer',
  'no_h2',
  'old_version',
  'timeout',
  'too_many',
  'other',
] as const;

export const SERVICE_LABELS = ['ext_proc', 'ext_authz', 'access_log', 'eds', 'ads', 'health', 'reflection'] as const;
export type ServiceLabel = (typeof SERVICE_LABELS)[number];

/** Codes of the refusals that this service can give (sticky-sessions 7, decisions 12, 13 and 35). */
export const REFUSAL_CODES = [
  'model_not_found',
  'worker_overload_protection_shed',
  'no_available_workers',
  'no_compatible_pd_pair',
  'endpoint_not_supported',
  'json_parse_error',
  'request_body_too_large',
  'prefill_request_failed',
  'prefill_upstream_error',
] as const satisfies readonly HttpErrorCode[];
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** Whether the decode of a prefill that failed had begun. */
export const PREFILL_PHASES = ['before_decode', 'beside_decode'] as const;
export type PrefillPhase = (typeof PREFILL_PHASES)[number];
/** How a prefill fails: its worker is not reached or breaks off, answers with an error, or takes too long. */
export const PREFILL_FAILURES = ['connection', 'status', 'timeout'] as const;
export type PrefillFailureReason = (typeof PREFILL_FAILURES)[number];

/** Why a request went on without a pick: Envoy's fallback policy placed it (interface 10). */
export const PASS_REASONS = ['not_settled', 'deadline', 'internal_error', 'protocol_error'] as const;
export type PassReason = (typeof PASS_REASONS)[number];

/** Why a body that was read had no say (decisions 35). */
export const OPAQUE_REASONS = ['empty', 'encoded', 'not_json'] as const;
export type OpaqueReason = (typeof OPAQUE_REASONS)[number];

/** Members that are written into bodies, and what came of it. */
export const EDITED_MEMBERS = ['model', 'data_parallel_rank'] as const;
export type EditedMember = (typeof EDITED_MEMBERS)[number];
/**
 * `not_whole`: none of the body, or only its beginning, was there. `read_only`: the protocol by which Envoy asked gives bodies
 * to read, not to change.
 */
export const EDIT_RESULTS = ['done', 'not_whole', 'read_only'] as const;
export type EditResult = (typeof EDIT_RESULTS)[number];

/** What released a request's count (decisions 7). */
export const RELEASE_REASONS = ['end', 'stream', 'periodic_lost', 'log_gone', 'age'] as const;
export type ReleaseReason = (typeof RELEASE_REASONS)[number];

/** Kinds of access-log entries: the end or the proof of life of a known pick, an attempt, and those that tell us nothing. */
export const LOG_ENTRY_KINDS = ['end', 'periodic', 'attempt', 'unknown_pick', 'no_pick', 'other'] as const;

/** Messages about loads between replicas: `unsent` while the way is down; `gap`: something before it was missed. */
export const LOAD_MESSAGE_EVENTS = ['sent', 'unsent', 'received', 'malformed', 'gap'] as const;

/** Access-log entries for picks of other replicas: `lost` ones did not reach their replica. */
export const PASSED_END_EVENTS = ['forwarded', 'received', 'lost', 'malformed'] as const;

/** What a question for the load of a worker came to: no report is an answer in which none stood. */
export const LOAD_POLL_RESULTS = ['report', 'no_report', 'failed'] as const;

/** Sources that are read while the service runs, and what they meet. */
export const DISCOVERY_SOURCE_LABELS = ['kubernetes', 'dns', 'workers_file'] as const;
export const DISCOVERY_EVENT_LABELS = [
  'added',
  'modified',
  'deleted',
  'bookmark',
  'listed',
  'resumed',
  'expired',
] as const;

export const WORKER_STATUS_LABELS = ['pending', 'ready', 'not_ready', 'failed', 'draining'] as const;

const store = label('store', ['memory', 'redis']);

export const OWN_METRICS = {
  buildInfo: gauge('smg_envoy_build_info', 'Always 1; the labels tell the version of the service and of Node.', [
    label('version', 'operator'),
    label('node', 'operator'),
  ]),

  streams: counter('smg_envoy_streams_total', 'Calls opened on the gRPC port, by service.', [
    label('service', SERVICE_LABELS),
  ]),
  openCalls: gauge('smg_envoy_open_calls', 'Calls open now on the gRPC port.', []),
  connections: gauge('smg_envoy_open_connections', 'Connections open now on the gRPC port.', []),
  transportLimits: counter(
    'smg_envoy_transport_limits_total',
    'Times that a peer on the gRPC port reached a limit of the transport, by limit; each ends a stream or a connection.',
    [label('limit', TRANSPORT_LIMITS)],
  ),
  resetsReceived: counter(
    'smg_envoy_resets_received_total',
    "Calls that a peer reset. Envoy's default end of an ext_proc stream is one.",
    [],
  ),
  goAwaysSent: counter('smg_envoy_goaways_sent_total', 'GOAWAY frames sent: connections ended, or being drained.', []),
  handshakeFailures: counter(
    'smg_envoy_tls_handshake_failures_total',
    'Connections to the gRPC port dropped in their TLS handshake, by reason.',
    [label('reason', HANDSHAKE_FAILURES)],
  ),
  tlsReloads: counter(
    'smg_envoy_tls_reloads_total',
    'Changes of the TLS files of the gRPC port, by result; after failed the certificate before goes on.',
    [label('result', ['ok', 'failed'])],
  ),
  tlsExpiry: gauge(
    'smg_envoy_tls_certificate_expiry_timestamp_seconds',
    'End of validity of the certificate that the gRPC port shows, in seconds since 1970; 0 without TLS.',
    [],
  ),
  handlerErrors: counter('smg_envoy_handler_errors_total', 'Calls ended by a failure inside the service.', [
    label('service', SERVICE_LABELS),
  ]),
  messages: counter(
    'smg_envoy_messages_total',
    'Messages by which Envoy asked for a pick, by kind; check_request is of ext_authz, the others of ext_proc.',
    [label('kind', MESSAGE_KINDS)],
  ),
  answers: counter(
    'smg_envoy_answers_total',
    'Answers to them, by kind; ok_response and denied_response are of ext_authz.',
    [label('kind', ANSWER_KINDS)],
  ),

  decisionSeconds: histogram(
    'smg_envoy_decision_seconds',
    'Seconds from the message that allowed the decision to the answer, by what was read.',
    DECISION_BUCKETS,
    [label('input', ['headers', 'body'])],
  ),
  bodiesRequested: counter('smg_envoy_bodies_requested_total', 'Requests whose body was asked for from Envoy.', []),
  bodyOverridesIgnored: counter(
    'smg_envoy_body_overrides_ignored_total',
    'Bodies asked for that never came: Envoy does not allow the mode override, or the request ended before.',
    [],
  ),
  partialBodies: counter(
    'smg_envoy_partial_bodies_total',
    'Bodies of which only a prefix was seen, being larger than what Envoy keeps.',
    [],
  ),
  opaqueBodies: counter('smg_envoy_opaque_bodies_total', 'Bodies read in vain: the headers alone decided.', [
    label('reason', OPAQUE_REASONS),
  ]),
  bodyEdits: counter(
    'smg_envoy_body_edits_total',
    'Members that had to be written into the body of a request; not_whole where the whole of a JSON body was not at hand, or is larger than what Envoy keeps, before or after it; read_only with ext_authz, which changes no bodies.',
    [label('member', EDITED_MEMBERS), label('result', EDIT_RESULTS)],
  ),
  prefillFailures: counter(
    'smg_envoy_prefill_failures_total',
    'Prefills that this service sent and that failed, by how, and by whether their decode had begun: then the client hears of it from the decode worker at best.',
    [label('phase', PREFILL_PHASES), label('reason', PREFILL_FAILURES)],
  ),
  refusals: counter('smg_envoy_immediate_answers_total', 'Requests answered by the service itself, by error code.', [
    label('code', REFUSAL_CODES),
  ]),
  passes: counter('smg_envoy_fail_open_total', 'Requests let through without a pick, for Envoy to place, by reason.', [
    label('reason', PASS_REASONS),
  ]),

  cacheIndexBranches: counter(
    'smg_envoy_cache_index_branch_total',
    'Decisions of the cache_aware policy without its trees: by the hash index, or by load alone under KV pressure.',
    [label('branch', CACHE_INDEX_BRANCHES)],
  ),

  routingKeyPlaces: counter(
    'smg_envoy_routing_key_source_total',
    'Keyed decisions of the sticky override, by the source of --routing-key-sources that had the key; header is headers.',
    [label('source', KEY_PLACES)],
  ),

  pins: gauge('smg_envoy_pins', 'Sticky keys remembered, by store.', [store]),
  pinEvictions: counter('smg_envoy_pin_evictions_total', 'Pins that left because the store was full.', [store]),
  pinsExpired: counter('smg_envoy_pins_expired_total', 'Pins that left because they were idle for too long.', [store]),
  pinSweeps: counter('smg_envoy_pin_sweeps_total', 'Passes over the store in search of idle pins.', [store]),
  pinsProvisional: gauge(
    'smg_envoy_pins_provisional',
    'Pins that only this replica knows, since the shared store did not answer in time.',
    [],
  ),
  pinAsks: counter(
    'smg_envoy_pin_store_asks_total',
    'New and moved pins, by how the shared store took part: won is as this replica wrote it, followed as another one did; late and failed were waited for in vain, behind not at all, and are provisional.',
    [label('result', ASK_RESULTS)],
  ),
  pinAskSeconds: histogram(
    'smg_envoy_pin_store_ask_seconds',
    'Seconds that a request waited for the shared store.',
    DECISION_BUCKETS,
    [],
  ),
  pinStoreState: gauge(
    'smg_envoy_pin_store_state',
    'State of the shared store: 1 for the one that holds. up answers in time, slow later than --pin-claim-timeout-ms, down not at all, or refuses writes.',
    [label('state', STORE_STATES)],
  ),
  pinStoreStateChanges: counter(
    'smg_envoy_pin_store_state_changes_total',
    'Changes of the state of the shared store, by the one it came to. The log repeats none of them within 10 s.',
    [label('state', STORE_STATES)],
  ),
  pinStoreProbeSeconds: histogram(
    'smg_envoy_pin_store_probe_seconds',
    'Seconds that the shared store took to answer the probe of each second.',
    LAG_BUCKETS,
    [],
  ),
  pinStoreConnects: counter('smg_envoy_pin_store_connects_total', 'Connections made to the shared store.', []),
  pinStoreErrors: counter(
    'smg_envoy_pin_store_errors_total',
    'Calls and connections to the shared store that failed, by reason.',
    [label('reason', STORE_ERROR_REASONS)],
  ),
  pinStoreSubscribed: gauge(
    'smg_envoy_pin_store_subscribed',
    'Whether changes of pins by other replicas are heard: 1, or 0.',
    [],
  ),
  pinStoreGaps: counter(
    'smg_envoy_pin_store_gaps_total',
    'Times that changes may have been missed, or the store had lost what it held, and all pins were compared with it.',
    [],
  ),
  pinSyncs: counter(
    'smg_envoy_pin_store_syncs_total',
    'Work on pins beside the requests: changes of other replicas taken over, provisional pins that were kept or gave way to another, pins given back to a store that had lost them, and pins whose end was put off.',
    [label('result', SYNC_RESULTS)],
  ),
  pinMoves: counter('smg_envoy_pin_moves_total', 'Pins moved to the worker that really served after a retry.', [store]),

  picksInFlight: gauge('smg_envoy_picks_in_flight', 'Placed requests whose end is not yet known.', []),
  releases: counter(
    'smg_envoy_releases_total',
    'Requests that stopped counting as in flight, by what told their end.',
    [label('reason', RELEASE_REASONS)],
  ),
  logEntries: counter('smg_envoy_access_log_entries_total', 'Access-log entries received, by kind.', [
    label('kind', LOG_ENTRY_KINDS),
  ]),
  logLag: histogram(
    'smg_envoy_access_log_lag_seconds',
    'Seconds from the end of a request at Envoy to its access-log entry here.',
    LAG_BUCKETS,
    [],
  ),
  logStreams: gauge('smg_envoy_access_log_streams', 'Access-log streams open now.', []),

  replicas: gauge(
    'smg_envoy_replicas',
    'Replicas that share their counts of requests now, this one with them; 0 where none are shared.',
    [],
  ),
  replicaMessages: counter(
    'smg_envoy_replica_load_messages_total',
    'Messages between replicas about requests in flight; unsent while the way to them is down, gap when some before it were missed.',
    [label('event', LOAD_MESSAGE_EVENTS)],
  ),
  replicaShareAge: gauge(
    'smg_envoy_replica_share_age_seconds',
    'Seconds since the word of the replica that was silent for longest; -1 when no other one is known, 0 where nothing is shared.',
    [],
  ),
  passedEnds: counter(
    'smg_envoy_replica_log_entries_total',
    'Access-log entries of picks that another replica made: forwarded to it, received from others, lost on the way, or malformed.',
    [label('event', PASSED_END_EVENTS)],
  ),

  loadPolls: counter('smg_envoy_load_polls_total', 'Questions for the load of a worker, by what came of them.', [
    label('result', LOAD_POLL_RESULTS),
  ]),
  loadPollSeconds: histogram(
    'smg_envoy_load_poll_seconds',
    'Seconds from the question for the load of a worker to its last answer.',
    LAG_BUCKETS,
    [],
  ),
  loadReportAge: gauge(
    'smg_envoy_load_report_age_seconds',
    'Seconds since the last load report of a worker; -1 when none is in force.',
    [label('worker', 'operator')],
  ),

  edsVersion: gauge('smg_envoy_eds_version', 'Version of the endpoints that the service holds ready for Envoy.', []),
  edsAnswers: counter('smg_envoy_eds_answers_total', 'Endpoint versions answered by Envoy, accepted or rejected.', [
    label('result', ['ack', 'nack']),
  ]),
  edsClients: gauge('smg_envoy_eds_clients', 'Envoys subscribed to the endpoints now.', []),
  edsBehind: gauge('smg_envoy_eds_clients_behind', 'Subscribed Envoys that have not accepted the current version.', []),

  workers: gauge('smg_envoy_workers', 'Registered workers by status.', [label('status', WORKER_STATUS_LABELS)]),
  discoveryEvents: counter(
    'smg_envoy_discovery_events_total',
    'What Kubernetes said of pods; listed, resumed and expired are a list, a watch taken up again, and one that could not be.',
    [label('event', DISCOVERY_EVENT_LABELS)],
  ),
  discoveryFailures: counter(
    'smg_envoy_discovery_failures_total',
    'Times that a source of workers could not be read; what it said last holds.',
    [label('source', DISCOVERY_SOURCE_LABELS)],
  ),
  discoveryUp: gauge(
    'smg_envoy_discovery_up',
    'Whether a source of workers in use can be read: 1, or 0 while what it said last holds, or it was never read.',
    [label('source', 'operator')],
  ),
  configReloads: counter('smg_envoy_config_reloads_total', 'Reloads of the configuration file that were applied.', []),
  configReloadFailures: counter(
    'smg_envoy_config_reload_failures_total',
    'Reloads of the configuration file that were refused; the running configuration stays.',
    [],
  ),
};
