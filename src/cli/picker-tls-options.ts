import { isIP } from 'node:net';
import { isAbsolute } from 'node:path/posix';
import type { Address } from '../envoy/bootstrap/address.ts';
import type { PickerName, PickerTls } from '../envoy/bootstrap/options.ts';
import { AppError } from '../util/app-error.ts';

/** The flags of `envoy-config` for TLS to the service, as they were written. Files are at Envoy: they are not read. */
export interface PickerTlsFlags {
  readonly tls?: boolean;
  readonly pickerCaPath?: string;
  readonly pickerName?: string;
  readonly pickerClientCertPath?: string;
  readonly pickerClientKeyPath?: string;
  readonly pickerSecretsDir?: string;
}

const FLAGS = [
  ['pickerCaPath', '--picker-ca-path'],
  ['pickerName', '--picker-name'],
  ['pickerClientCertPath', '--picker-client-cert-path'],
  ['pickerClientKeyPath', '--picker-client-key-path'],
  ['pickerSecretsDir', '--picker-secrets-dir'],
] as const;

/**
 * How Envoy calls the service over TLS, null for plain text.
 *
 * @throws AppError `invalid_configuration` for flags that do not go together
 */
export function pickerTls(flags: PickerTlsFlags, pickers: readonly Address[]): PickerTls | null {
  if (flags.tls !== true) {
    const given = FLAGS.find(([key]) => flags[key] !== undefined);
    if (given !== undefined) refuse(`${given[1]}: only with --tls`);
    return null;
  }
  const { pickerClientCertPath: cert, pickerClientKeyPath: key, pickerSecretsDir: secrets } = flags;
  if (cert !== undefined && key === undefined) refuse('--picker-client-cert-path needs --picker-client-key-path');
  if (key !== undefined && cert === undefined) refuse('--picker-client-key-path needs --picker-client-cert-path');
  if (secrets !== undefined) {
    if (cert === undefined && flags.pickerCaPath === undefined) {
      refuse('--picker-secrets-dir: needs --picker-ca-path or --picker-client-cert-path, whose files it is about');
    }
    // Envoy watches the folders of these files.
    for (const [key, flag] of FLAGS) {
      const path = flags[key];
      if (key !== 'pickerName' && path !== undefined && !isAbsolute(path))
        refuse(`${flag} ${path}: expected an absolute path`);
    }
  }
  return {
    authority: flags.pickerCaPath ?? null,
    names: namesOf(flags.pickerName, pickers),
    client: cert === undefined || key === undefined ? null : { cert, key },
    secrets: secrets ?? null,
  };
}

/** By default the service is called by name or address in its certificate, as by any client. */
function namesOf(given: string | undefined, pickers: readonly Address[]): readonly PickerName[] {
  if (given !== undefined) {
    if (!/^[A-Za-z0-9._:-]+$/.test(given)) refuse(`--picker-name ${given}: expected a DNS name or an IP address`);
    return [nameOf(given)];
  }
  const hosts = pickers.map((picker) => {
    if (picker.kind === 'tcp') return picker.host;
    return refuse('--tls: a Unix socket has no name; give that of the certificate with --picker-name');
  });
  return [...new Set(hosts)].map(nameOf);
}

function nameOf(name: string): PickerName {
  return { kind: isIP(name) === 0 ? 'DNS' : 'IP_ADDRESS', name };
}

function refuse(message: string): never {
  throw new AppError('invalid_configuration', message);
}
