import { isTls, type WorkerUrl } from './worker-url.ts';

/** How workers are spoken to beyond what their URLs say. Envoy's configuration is made from the same settings. */
export interface Upstream {
  /** `--upstream-http2`: HTTP/2 with prior knowledge. gRPC workers get it in any case. */
  readonly http2: boolean;
  readonly tls: UpstreamTls;
}

/** TLS towards workers; PEM texts. */
export interface UpstreamTls {
  /** Authorities to trust (`--ca-cert-paths`); empty: those of the system. */
  readonly ca: readonly string[];
  /** What the service shows of itself (`--client-cert-path`); null for nothing. */
  readonly cert: string | null;
  readonly key: string | null;
  /** `--worker-tls-insecure`: any certificate will do. */
  readonly insecure: boolean;
}

export const DEFAULT_UPSTREAM: Upstream = { http2: false, tls: { ca: [], cert: null, key: null, insecure: false } };

/** One connection's part of it, as node:tls takes it. */
export interface ConnectTls {
  readonly ca?: string[];
  readonly cert?: string;
  readonly key?: string;
  readonly rejectUnauthorized: boolean;
  /** Name that is asked for and that the certificate must have; the address counts where it is absent. */
  readonly servername?: string;
}

/** What to connect to a worker with; null without TLS. */
export function connectTls({ scheme, host, address }: WorkerUrl, tls: UpstreamTls): ConnectTls | null {
  if (!isTls(scheme)) return null;
  return {
    rejectUnauthorized: !tls.insecure,
    ...(tls.ca.length === 0 ? {} : { ca: [...tls.ca] }),
    ...(tls.cert === null || tls.key === null ? {} : { cert: tls.cert, key: tls.key }),
    // RFC 6066 3: an address is no server name.
    ...(address === '' ? { servername: host } : {}),
  };
}
