import type { Settings } from '../config/load-settings.ts';
import type { TlsOptions, Transport } from '../transport/transport.ts';
import { readTlsFiles, tlsOptionsOf, tlsPlacesOf } from './tls-files.ts';
import { TlsReload, type TlsReloadParts } from './tls-reload.ts';

/** TLS of the gRPC port. */
export interface ServiceTls {
  /** What the port is opened with. */
  readonly options: TlsOptions;
  /** Has the port show what the files hold from now on, until the function that it returns is called. */
  follow(transport: Pick<Transport, 'renewTls'>): () => void;
}

/**
 * Null without TLS.
 *
 * @throws AppError as {@link readTlsFiles}
 */
export function tlsOf(
  settings: Settings,
  parts: Pick<TlsReloadParts, 'metrics' | 'log' | 'wallClock'>,
): ServiceTls | null {
  const places = tlsPlacesOf(settings);
  if (places === null) return null;
  const files = readTlsFiles(places, parts.wallClock());
  return {
    options: tlsOptionsOf(files),
    follow(transport) {
      const reload = new TlsReload({ ...parts, places, files, renew: (tls) => transport.renewTls(tls) });
      return () => reload.close();
    },
  };
}
