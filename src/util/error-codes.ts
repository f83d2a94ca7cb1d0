/** Every code that an error of this program can carry. `docs/errors.md` is made from these two tables. */

interface ProcessCode {
  /** Exit status of the command that fails with it (interface 2). */
  readonly exit: 1 | 2;
  readonly meaning: string;
}

/** Codes of errors that end a command, or that it reports on stderr. */
export const PROCESS_CODES = {
  invalid_configuration: { exit: 2, meaning: 'A flag, an environment variable or the config file cannot be used.' },
  invalid_usage: { exit: 2, meaning: 'The command line is not understood: command, option or argument.' },
  unreadable_file: { exit: 2, meaning: 'A file named by a flag cannot be read.' },
  address_in_use: { exit: 1, meaning: 'A port or socket to listen on is taken.' },
  address_unusable: { exit: 1, meaning: 'An address to listen on is not of this machine, or not allowed.' },
  admin_unreachable: { exit: 1, meaning: 'The admin API of the service does not answer.' },
  admin_refused: { exit: 1, meaning: 'The admin API of the service answered with an error.' },
  target_unreachable: { exit: 1, meaning: 'The endpoint picker under test does not accept connections.' },
  timed_out: { exit: 1, meaning: 'What was waited for did not happen in time.' },
  missing_program: { exit: 1, meaning: 'A program that the command starts was not found.' },
  child_failed: { exit: 1, meaning: 'A process that the command started ended with an error.' },
  internal: { exit: 1, meaning: 'A fault of this program.' },
} as const satisfies Record<string, ProcessCode>;

export type ErrorCode = keyof typeof PROCESS_CODES;

interface HttpCode {
  /** Usual status; `--error-style epp` changes some (decisions 13). */
  readonly status: number;
  /** Who answers: the service to a client of Envoy, Envoy itself, or the admin API. */
  readonly from: readonly ('service' | 'envoy' | 'admin')[];
  readonly meaning: string;
}

/** Codes in the error envelope and in `x-smg-error-code` (interface 10, decisions 32 and 41, sticky-sessions 7). */
export const HTTP_CODES = {
  model_not_found: { status: 404, from: ['service'], meaning: 'No worker serves the model that the request names.' },
  worker_overload_protection_shed: {
    status: 503,
    from: ['service'],
    meaning: 'Every worker of the model is overloaded; `Retry-After` tells when to try again.',
  },
  no_available_workers: {
    status: 503,
    from: ['service', 'envoy'],
    meaning: 'Workers exist, but none can take the request now; also a missed `x-smg-target-worker`.',
  },
  no_compatible_pd_pair: {
    status: 503,
    from: ['service'],
    meaning:
      'No prefill worker of the model fits one of its decode workers (`--pd-pairing-mode`); the message tells on what they differ.',
  },
  endpoint_not_supported: {
    status: 501,
    from: ['service'],
    meaning:
      'Embeddings and classification cannot be split between a prefill and a decode worker; nothing can for SGLang where bodies cannot be changed (ext_authz).',
  },
  json_parse_error: {
    status: 400,
    from: ['service'],
    meaning: 'The body is no JSON object, or its `rid` or `model` is duplicated or of a wrong type.',
  },
  request_body_too_large: {
    status: 413,
    from: ['service', 'envoy', 'admin'],
    meaning: 'The body is larger than allowed (`--max-payload-size`; 1 MiB on the admin API).',
  },
  prefill_request_failed: {
    status: 502,
    from: ['service'],
    meaning: 'The prefill worker could not be reached, or did not answer in time (504).',
  },
  prefill_upstream_error: {
    status: 500,
    from: ['service'],
    meaning: 'The prefill worker answered with an error; its status and message are handed on.',
  },
  call_upstream_connection_failed: {
    status: 503,
    from: ['envoy'],
    meaning: 'No worker of the destination list could be reached.',
  },
  call_upstream_request_error: {
    status: 503,
    from: ['envoy'],
    meaning: 'The worker broke off before it answered (502 when its answer could not be read).',
  },
  request_body_stalled: {
    status: 408,
    from: ['envoy'],
    meaning: 'The rest of the request body did not arrive in time.',
  },
  route_not_found: { status: 404, from: ['envoy'], meaning: 'The request fits no route, as a CONNECT does.' },
  picker_failed: {
    status: 503,
    from: ['envoy'],
    meaning:
      'The service is away under `--fail closed` (504 when it did not answer in time, 500 for an invalid answer).',
  },
  call_upstream_timeout: { status: 504, from: ['envoy'], meaning: 'The worker did not answer in time.' },
  bad_request: { status: 400, from: ['admin'], meaning: 'The body or a parameter is not understood.' },
  unauthorized: { status: 401, from: ['admin'], meaning: 'No valid bearer key.' },
  forbidden: { status: 403, from: ['admin'], meaning: 'The key has not the role that the route needs.' },
  not_found: { status: 404, from: ['admin'], meaning: 'No such route.' },
  worker_not_found: { status: 404, from: ['admin'], meaning: 'No worker has that id.' },
  method_not_allowed: { status: 405, from: ['admin'], meaning: 'The route has no such method.' },
  worker_already_exists: { status: 409, from: ['admin'], meaning: 'A worker with that URL is registered.' },
  worker_removing: {
    status: 409,
    from: ['admin'],
    meaning: 'The worker is being removed; it can be added again when it is gone.',
  },
  pin_not_found: { status: 404, from: ['admin'], meaning: 'The key is not pinned for that model, leg and tenant.' },
  pin_worker_unusable: {
    status: 409,
    from: ['admin'],
    meaning: 'The worker cannot take the key; the message tells why.',
  },
  pin_contended: { status: 409, from: ['admin'], meaning: 'The pin was written by others all the time; try again.' },
  pin_store_unavailable: {
    status: 503,
    from: ['admin'],
    meaning:
      'The store that replicas share does not answer: no pin can be changed, or looked up that is not in this process.',
  },
  decisions_off: { status: 409, from: ['admin'], meaning: 'No decision is recorded (`--decision-ring off`).' },
  too_many_readers: {
    status: 503,
    from: ['admin'],
    meaning: 'Decisions are streamed to as many readers as there may be, or the service is about to end.',
  },
  internal_error: { status: 500, from: ['admin'], meaning: 'A fault of the service; its log has the cause.' },
} as const satisfies Record<string, HttpCode>;

export type HttpErrorCode = keyof typeof HTTP_CODES;
