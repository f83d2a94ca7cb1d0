/** How the API server of a cluster is reached. */

/** What proves who we are; for one request, as tokens expire. */
export interface Credentials {
  /** Bearer token; null when a certificate does it. */
  readonly token: string | null;
  /** Client certificate and its key, PEM. */
  readonly cert: string | null;
  readonly key: string | null;
}

export const NO_CREDENTIALS: Credentials = { token: null, cert: null, key: null };

export interface ClusterAccess {
  readonly server: URL;
  /** Certificates of the authority of the server, PEM; null: those that Node trusts. */
  ca(): Promise<string | null>;
  /** Name in the certificate of the server; null: its host. */
  readonly serverName: string | null;
  /** False where the certificate of the server is not checked. */
  readonly verified: boolean;
  /** Rejects with an error that says why there are none. */
  credentials(): Promise<Credentials>;
  /** The last ones were refused: nothing of them is to be used again. */
  refused(): void;
}
