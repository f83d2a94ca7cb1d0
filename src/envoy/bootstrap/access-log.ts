import {
  ATTEMPT_LOG_NAME,
  PICK_ID_KEY,
  PICKER_CLUSTER,
  STAMP_HEADER,
  WORKER_ID_KEY,
  WORKER_NAMESPACE,
  WORKER_TAG,
} from '../names.ts';
import type { BootstrapMode, BootstrapOptions } from './options.ts';
import { pickNamespace } from './pick-namespace.ts';
import { type Config, extension } from './typed.ts';

/** Cluster that the access logger of the n-th of `count` replicas writes to. */
export function loggerCluster(index: number, count: number): string {
  return count === 1 ? PICKER_CLUSTER : `${PICKER_CLUSTER}_${index + 1}`;
}

/**
 * One logger for each replica of the service, so that each learns the end of its own picks; with a single one it shares
 * the connection of ext_proc, so that entries and picks arrive in order (decisions 23).
 */
export function accessLoggers({ pickers: { length }, mode }: BootstrapOptions): readonly Config[] {
  return Array.from({ length }, (_, index) => endLogger(loggerCluster(index, length), mode));
}

/** Tells the service, which is `cluster`, how the requests that it placed end. */
export function endLogger(cluster: string, mode: BootstrapMode = 'ext-proc'): Config {
  return {
    name: 'envoy.access_loggers.http_grpc',
    '# filter': 'requests that nobody picked do not concern the service',
    filter: {
      metadata_filter: {
        matcher: { filter: pickNamespace(mode), path: [{ key: PICK_ID_KEY }], value: { present_match: true } },
        match_if_key_not_found: false,
      },
    },
    typed_config: grpcLog(cluster),
  };
}

/**
 * The same loggers for the router, which writes an entry for each attempt at a worker: only of those that failed, so that
 * nothing is written while all is well.
 */
export function attemptLoggers(options: BootstrapOptions): readonly Config[] {
  const { length } = options.pickers;
  return Array.from({ length }, (_, index) => attemptLogger(options, loggerCluster(index, length)));
}

/** Tells the service, which is `cluster`, of each attempt at a worker that failed. */
export function attemptLogger({ stamp, dpAware }: BootstrapOptions, cluster: string): Config {
  return {
    name: 'envoy.access_loggers.http_grpc',
    filter: {
      or_filter: {
        filters: [{ response_flag_filter: { flags: FAILED_FLAGS } }, statusFilter('EQ', 408), statusFilter('GE', 500)],
      },
    },
    typed_config: grpcLog(cluster, stamp && dpAware ? RANK_OF_ATTEMPT : {}),
  };
}

/** The log of the router has no metadata of the request; the stamp tells its rank. */
const RANK_OF_ATTEMPT: Config = {
  '# additional_response_headers_to_log': 'tells which data-parallel rank failed',
  additional_response_headers_to_log: [STAMP_HEADER],
};

/** No connection, connection lost, reset, protocol error, timeout of an attempt. */
const FAILED_FLAGS = ['UF', 'UC', 'UR', 'UPE', 'UT'];

/** The runtime key is required; nobody sets it. */
function statusFilter(op: 'EQ' | 'GE', status: number): Config {
  return {
    status_code_filter: {
      comparison: { op, value: { default_value: status, runtime_key: `smg_envoy.attempt_status_${op.toLowerCase()}` } },
    },
  };
}

function grpcLog(cluster: string, more: Config = {}): unknown {
  const common = {
    '# log_name': 'tells the service that failed attempts are logged, too',
    log_name: ATTEMPT_LOG_NAME,
    transport_api_version: 'V3',
    '# buffer_size_bytes': 'an entry leaves at once: the count of running requests decides placements',
    buffer_size_bytes: 0,
    grpc_service: { envoy_grpc: { cluster_name: cluster, authority: PICKER_CLUSTER } },
    '# custom_tags': 'the worker that really answered, also after a retry',
    custom_tags: [
      {
        tag: WORKER_TAG,
        metadata: { kind: { host: {} }, metadata_key: { key: WORKER_NAMESPACE, path: [{ key: WORKER_ID_KEY }] } },
      },
    ],
  };
  const type = 'envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig';
  return extension('', type, { common_config: common, ...more })['typed_config'];
}
