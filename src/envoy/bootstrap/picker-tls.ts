/** TLS from Envoy to the service (envoy 15.5). */
import { dirname } from 'node:path/posix';
import { commentedYaml } from './commented-yaml.ts';
import type { PickerTls } from './options.ts';
import { type Config, extension, typed } from './typed.ts';
import { SYSTEM_AUTHORITIES } from './worker-tls.ts';

const CERTIFICATE = 'smg-envoy-client';
const AUTHORITY = 'smg-envoy-ca';

/** `transport_socket` of a cluster of the service. */
export function pickerSocket(tls: PickerTls): Config {
  const sni = tls.names.find(({ kind }) => kind === 'DNS');
  return {
    transport_socket: extension(
      'envoy.transport_sockets.tls',
      'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      { ...(sni === undefined ? {} : { sni: sni.name }), common_tls_context: context(tls) },
    ),
  };
}

/** The two files of {@link PickerTls.secrets}. */
export const SECRETS = ['client', 'ca'] as const;
export type SecretKind = (typeof SECRETS)[number];

/**
 * One of them, a discovery response with one secret, as Envoy takes no more of a file; Envoy follows the folder of what it names. In
 * a bootstrap itself certificates are read once. Null when there is no such secret.
 */
export function renderPickerSecret(kind: SecretKind, { authority, client }: PickerTls): string | null {
  const made = kind === 'client' ? client && clientSecret(client) : authority && authoritySecret(authority);
  if (made === null || made === '') return null;
  const headline = `How Envoy calls smg-envoy. Made by \`smg-envoy envoy-config --picker-secret ${kind}\`.`;
  return commentedYaml({ '#': headline, resources: [made] });
}

function clientSecret(client: NonNullable<PickerTls['client']>): Config {
  return secret(CERTIFICATE, { tls_certificate: { ...keyPair(client), ...watched(client.cert) } });
}

function authoritySecret(authority: string): Config {
  return secret(AUTHORITY, { validation_context: { trusted_ca: { filename: authority }, ...watched(authority) } });
}

function context(tls: PickerTls): Config {
  const { client, secrets } = tls;
  const own =
    client === null
      ? {}
      : secrets === null
        ? { tls_certificates: [keyPair(client)] }
        : { tls_certificate_sds_secret_configs: [secretConfig(CERTIFICATE, secrets)] };
  return {
    tls_params: { tls_minimum_protocol_version: 'TLSv1_2', tls_maximum_protocol_version: 'TLSv1_3' },
    alpn_protocols: ['h2'],
    ...own,
    ...trusted(tls),
  };
}

function trusted({ authority, names, secrets }: PickerTls): Config {
  const matched = {
    match_typed_subject_alt_names: names.map(({ kind, name }) => ({ san_type: kind, matcher: { exact: name } })),
  };
  if (authority === null || secrets === null) {
    return { validation_context: { trusted_ca: { filename: authority ?? SYSTEM_AUTHORITIES }, ...matched } };
  }
  return {
    combined_validation_context: {
      default_validation_context: matched,
      validation_context_sds_secret_config: secretConfig(AUTHORITY, secrets),
    },
  };
}

function secretConfig(name: string, folder: string): Config {
  const source = { path: `${folder}/${name}.yaml`, watched_directory: { path: folder } };
  return { name, sds_config: { resource_api_version: 'V3', path_config_source: source } };
}

function secret(name: string, fields: Config): Config {
  return typed('envoy.extensions.transport_sockets.tls.v3.Secret', { name, ...fields });
}

function keyPair({ cert, key }: NonNullable<PickerTls['client']>): Config {
  return { certificate_chain: { filename: cert }, private_key: { filename: key } };
}

/** A Kubernetes Secret changes by a rename in this folder. */
function watched(path: string): Config {
  return { watched_directory: { path: dirname(path) } };
}
