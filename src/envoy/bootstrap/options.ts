import type { Address, TcpAddress } from './address.ts';

/** Envoy releases that a configuration can be written for; `1.38` stands for it and all later ones (decisions 28). */
export const ENVOY_TARGETS = ['1.36', '1.37', '1.38'] as const;
export type EnvoyTarget = (typeof ENVOY_TARGETS)[number];

/** By which protocol, and in which way of it, Envoy asks the service (interface 8). */
export type BootstrapMode = 'ext-proc' | 'ext-proc-full-duplex' | 'ext-authz';
/** The modes that can be rendered. */
export const BOOTSTRAP_MODES: readonly BootstrapMode[] = ['ext-proc', 'ext-proc-full-duplex', 'ext-authz'];

/** A worker that stands in the file instead of coming over EDS. */
export interface StaticWorker {
  readonly address: TcpAddress;
  /** Identity in access-log entries. */
  readonly id: string;
  /** Value of `x-smg-routed-worker-id`; empty for none. */
  readonly stamp: string;
  /** The name to ask for over TLS, empty for none; null without TLS. */
  readonly tlsName: string | null;
  /** It serves gRPC requests and nothing else. */
  readonly grpc: boolean;
}

/** How workers are spoken to (decisions 45). */
export interface UpstreamOptions {
  /** HTTP/2 instead of HTTP/1.1. */
  readonly http2: boolean;
  /** Null where no worker wants TLS. */
  readonly tls: WorkerTls | null;
  /** Some workers serve gRPC requests and nothing else: they are a cluster of their own. */
  readonly grpc: boolean;
}

export interface WorkerTls {
  /** Authorities to trust, a file at Envoy or their PEM text; null: those of the system. */
  readonly authorities: { readonly filename: string } | { readonly inline_string: string } | null;
  /** Files at Envoy with what workers are shown; null for nothing. */
  readonly client: { readonly cert: string; readonly key: string } | null;
  /** Any certificate will do. */
  readonly insecure: boolean;
}

/** How Envoy calls the service over TLS. All files are at Envoy. */
export interface PickerTls {
  /** Authority of the service's certificate; null: those of the system. */
  readonly authority: string | null;
  /** One of these the certificate must be for; at least one. */
  readonly names: readonly PickerName[];
  /** What the service is shown; null for nothing. */
  readonly client: { readonly cert: string; readonly key: string } | null;
  /** Folder with a file for each as secrets, which Envoy follows; null: read once, when Envoy starts. */
  readonly secrets: string | null;
}

export interface PickerName {
  readonly kind: 'DNS' | 'IP_ADDRESS';
  readonly name: string;
}

/** How Envoy repeats a request (decisions 31). */
export interface RetryOptions {
  /** Attempts in all, the first included; at least 1. */
  readonly attempts: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  /** Repeats a request whose connection broke after the worker got it, as long as no byte was answered. */
  readonly onReset: boolean;
  /** Only connection failures are repeated. */
  readonly connectFailureOnly: boolean;
}

/** How Envoy itself asks workers of the file whether they are well. */
export interface StaticHealthOptions {
  readonly path: string;
  readonly timeoutSecs: number;
  readonly intervalSecs: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/** Everything that shapes a generated bootstrap. */
export interface BootstrapOptions {
  readonly mode: BootstrapMode;
  /** Where clients connect. */
  readonly listen: TcpAddress;
  /** Replicas of the service, at least one. */
  readonly pickers: readonly Address[];
  /** Null: in plain text. */
  readonly pickerTls: PickerTls | null;
  /** The service speaks Node's HTTP/2, which closes a connection after about a thousand resets (`--transport grpc-js`). */
  readonly nodeHttp2: boolean;
  /** Requests fail with 503 while the service is away; else Envoy places them itself. */
  readonly failClosed: boolean;
  /** Envoy's admin interface; null for none. */
  readonly admin: TcpAddress | null;
  readonly upstream: UpstreamOptions;
  /** Null: the workers come over EDS from the service. */
  readonly staticWorkers: readonly StaticWorker[] | null;
  /** Null: workers of the file are not checked. Those over EDS bring the service's verdict along. */
  readonly staticHealth: StaticHealthOptions | null;
  readonly envoy: EnvoyTarget;
  /** Bytes of a request body that Envoy keeps for the service and for retries. */
  readonly bodyLimitBytes: number;
  readonly retry: RetryOptions;
  /** Longest life of a request; null for no limit. */
  readonly requestTimeoutSecs: number | null;
  /** Request headers that the service does not get to see (decisions 29). */
  readonly hiddenHeaders: readonly string[];
  /** Name of the header copy of the destination; null when only metadata carries it (decisions 21). */
  readonly destinationHeader: string | null;
  /** Answers say which worker gave them. */
  readonly stamp: boolean;
  /** Workers may be data-parallel ranks of one engine, which only the request tells apart (decisions 46). */
  readonly dpAware: boolean;
  /** Requests are split between prefill and decode workers. */
  readonly disaggregated: boolean;
  /** Requests are mirrored to the prefill worker that the service names (`--pd-dispatch mirror`). */
  readonly mirrorsPrefills: boolean;
  /** Longest prefill that the service sends while a request waits. */
  readonly prefillTimeoutSecs: number;
  /** Answers carry the decision in `x-smg-decision`. */
  readonly decisionHeader: boolean;
  /** With ext_authz: bodies are sent to the service, up to `bodyLimitBytes`. It cannot ask for them. */
  readonly authzBody: boolean;
}
