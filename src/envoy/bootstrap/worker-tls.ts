import { TLS_KEY, TLS_ON } from '../names.ts';
import type { WorkerTls } from './options.ts';
import { type Config, extension } from './typed.ts';

/** Where Debian, Ubuntu, Alpine and Envoy's own image keep the authorities of the system. */
export const SYSTEM_AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';

/** TLS to the endpoints that say so, clear text to all others (decisions 45). */
export function tlsMatches(tls: WorkerTls, http2: boolean): Config {
  return {
    '# transport_socket_matches': 'workers with https:// or grpcs:// carry this in their metadata',
    transport_socket_matches: [
      {
        name: 'tls',
        match: { [TLS_KEY]: TLS_ON },
        transport_socket: extension(
          'envoy.transport_sockets.tls',
          'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
          { ...checks(tls), common_tls_context: commonContext(tls, http2) },
        ),
      },
    ],
  };
}

/** A worker with a DNS name is asked for it, and its certificate must have it. */
function checks({ insecure }: WorkerTls): Config {
  return {
    '# auto_host_sni': 'the DNS name of the worker; of one known by its address only the authority is checked',
    auto_host_sni: true,
    ...(insecure ? {} : { auto_sni_san_validation: true }),
  };
}

function commonContext({ authorities, client, insecure }: WorkerTls, http2: boolean): Config {
  const own = client === null ? {} : { tls_certificates: [keyPair(client)] };
  const trusted = insecure
    ? {
        '# validation_context': 'any certificate will do',
        validation_context: { trust_chain_verification: 'ACCEPT_UNTRUSTED' },
      }
    : { validation_context: { trusted_ca: authorities ?? { filename: SYSTEM_AUTHORITIES } } };
  return { alpn_protocols: [http2 ? 'h2' : 'http/1.1'], ...own, ...trusted };
}

function keyPair({ cert, key }: NonNullable<WorkerTls['client']>): Config {
  return { certificate_chain: { filename: cert }, private_key: { filename: key } };
}
