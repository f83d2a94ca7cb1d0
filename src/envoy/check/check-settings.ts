/** What a configuration of Envoy is judged by: how the service is set up that it is to ask. */
export interface CheckSettings {
  /** Why the service reads bodies, to complete "because …"; null when headers always suffice. */
  readonly bodyReason: string | null;
  /** Request headers, in lower case, in which the service looks for keys and hints. */
  readonly readHeaders: readonly string[];
  /** Headers with secrets that the service has no use for (decisions 29). */
  readonly hiddenHeaders: readonly string[];
  /** Requests can name the one worker that may serve them. */
  readonly strictTargets: boolean;
  /** `--destination-header`: a lower-case name, `auto` or `off`. */
  readonly destinationHeader: string;
  /** `--envoy-body-limit` */
  readonly bodyLimitBytes: number;
  /** Largest gRPC message that the service takes. */
  readonly receiveLimitBytes: number;
  /** Further workers in a destination list (`--fallbacks`). */
  readonly fallbacks: number;
  /** Attempts at a request, the first included (`--retry-max-retries`). */
  readonly attempts: number;
  /** A request may be repeated although a worker may have begun it (`--retry-on-reset`). */
  readonly repeatsOnReset: boolean;
  /** `--request-timeout-secs` where it is given: a bound that is meant. */
  readonly requestTimeoutSecs: number | null;
  /** Answers are to name the worker that gave them (`--routed-worker-id`). */
  readonly namesWorkers: boolean;
  /** Workers are probed for health. */
  readonly healthChecks: boolean;
  /** Who sends the prefill request; null without prefill and decode workers. */
  readonly pdDispatch: 'service' | 'header' | 'mirror' | null;
  /** What the service asks for while it waits for a prefill, in seconds (envoy 10.5). */
  readonly prefillSecs: number;
  /** Replicas find the owner of a pick through a shared store (decisions 23). */
  readonly sharedStore: boolean;
  /** The server is Node's HTTP/2, which limits resets (envoy 3.3). */
  readonly nodeHttp2: boolean;
  /** Replicas of the service, as `host:port`, `[ipv6]:port` or `unix:path`. */
  readonly pickers: readonly string[];
  /** Minor version of Envoy 1.x. */
  readonly envoyMinor: number;
  /** Whether a file is there on this machine. */
  readonly fileExists: (path: string) => boolean;
}

/** Envoy that is judged for where none is named. */
export const NEWEST_ENVOY_MINOR = 40;

/** What the service reads of every request besides keys (`agents` are those of coding tools). */
export { AGENT_HEADERS } from '../../request/agent-headers.ts';
export const ALWAYS_READ: readonly string[] = [
  ':method',
  ':path',
  'content-type',
  'content-length',
  'x-smg-target-worker',
  'x-smg-routing-tokens',
];
