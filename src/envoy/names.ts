/** Names that the service and its Envoy configuration share. */

/** Cluster of the service: ext_proc, xDS and, with one replica, the access log. */
export const PICKER_CLUSTER = 'picker';
/** Cluster of the workers; also the name of the EDS resource. */
export const WORKER_CLUSTER = 'workers';
/** Cluster of the workers that serve gRPC requests and nothing else, where there are some; also the name of its EDS resource. */
export const GRPC_WORKER_CLUSTER = 'grpc_workers';

/** Cluster of the prefill workers that requests are mirrored to (`--pd-dispatch mirror`); also the name of its EDS resource. */
export const PREFILL_WORKER_CLUSTER = 'prefill_workers';

/** Metadata of an endpoint that is spoken to over TLS: Envoy's own name for it, our key and its one value. */
export const TRANSPORT_NAMESPACE = 'envoy.transport_socket_match';
export const TLS_KEY = 'transport';
export const TLS_ON = 'tls';

/**
 * Metadata namespace that holds the destination, for a strict target `strict` and for a mirrored request its prefill worker:
 * nothing else (envoy 6.6). Of all dynamic metadata, Envoy gives the mirrored request this namespace alone.
 */
export const DESTINATION_NAMESPACE = 'envoy.lb';
export const DESTINATION_KEY = 'x-gateway-destination-endpoint';
export const STRICT_KEY = 'strict';
export const PREFILL_KEY = 'prefill';

/** Metadata namespace of everything else. */
export const PICKER_NAMESPACE = 'picker';
export const PICK_ID_KEY = 'pick_id';
export const SERVED_KEY = 'served';
export const DECISION_KEY = 'decision';
/** The data-parallel rank that the body names (decisions 46), and the same as the end of a worker id: `@rank`. */
export const RANK_KEY = 'rank';
export const RANK_SUFFIX_KEY = 'rank_suffix';

/** Filter of ext_authz, and therefore the namespace of all metadata that an answer to a check sets (envoy 11.2). */
export const AUTHZ_NAMESPACE = 'envoy.filters.http.ext_authz';
/** Code of a refusal, for access logs: ext_authz cannot set the response code detail. */
export const ERROR_CODE_KEY = 'error_code';
/** Request header by which an answer to a check says `strict` to our configuration, which turns it into metadata. */
export const STRICT_HEADER = 'x-smg-strict';

/** Metadata of an endpoint in the namespace of destinations, which subsets are made by: the leg that its worker does. */
export const LEG_KEY = 'leg';

/** Metadata of an endpoint: `id` for the access log, `stamp` for the response header (decisions 22). */
export const WORKER_NAMESPACE = 'worker';
export const WORKER_ID_KEY = 'id';
export const WORKER_STAMP_KEY = 'stamp';
/** Custom tag of an access-log entry that holds the worker's id. */
export const WORKER_TAG = 'worker';

/** `log_name` of our access log. It promises that the router logs each failed attempt, too. */
export const ATTEMPT_LOG_NAME = 'picker-attempts';

/** The same under the name of the Endpoint Picker Protocol (endpoint-picker-protocol 5). */
export const PROTOCOL_SERVED_KEY = `${DESTINATION_KEY}-served`;

/** Where a data plane says which endpoints a request may use (endpoint-picker-protocol 2). */
export const SUBSET_NAMESPACE = 'envoy.lb.subset_hint';
export const SUBSET_KEY = `${DESTINATION_KEY}-subset`;

/** gRPC metadata by which our generated configuration makes itself known on every call. */
export const ENVOY_MARK = 'x-smg-envoy';
/** What it says: `periodic=SECONDS`, the interval of the access log's periodic entries. */
export const ENVOY_MARK_PERIODIC = 'periodic=';
/** Seconds between two access-log entries of a request that still runs (envoy 9.4). */
export const PERIODIC_LOG_SECS = 10;

/** Request header by which the service, and nobody else, takes the route without retries. */
export const SEND_ONCE_HEADER = 'x-smg-send-once';

export const STAMP_HEADER = 'x-smg-routed-worker-id';
export const ERROR_CODE_HEADER = 'x-smg-error-code';
export const DECISION_HEADER = 'x-smg-decision';

/** Request headers that end at this Envoy (decisions 15). */
export const CONTROL_HEADERS = [
  'x-smg-target-worker',
  'x-smg-routing-tokens',
  'x-smg-priority',
  'x-smg-tenant-id',
  'x-smg-mcp',
  SEND_ONCE_HEADER,
  DECISION_HEADER,
] as const;
/** Tells the sidecar of a decode worker whom to ask for the prefill (decisions 27). */
export const PREFILLER_HEADER = 'x-prefiller-host-port';
/** Request headers that name a worker and that no client may set (envoy 6.4). */
export const CARRIER_HEADERS = [DESTINATION_KEY, 'x-prefill-endpoint', PREFILLER_HEADER] as const;

/** From the end of what an answer waits for to the answer that tells it: what Envoy is asked for beyond it. */
export const MORE_TIME_MARGIN_SECS = 2;
