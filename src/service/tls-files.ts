/** Certificate, key and authorities of the gRPC port, from their files (interface 3). */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Settings } from '../config/load-settings.ts';
import type { TlsOptions } from '../transport/transport.ts';
import { AppError, messageOf } from '../util/app-error.ts';

export interface TlsPlaces {
  readonly cert: string;
  readonly key: string;
  /** Null: anybody may call. */
  readonly clientCa: string | null;
}

/** What the files hold, found to fit together. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string | null;
  /** Validity of the certificate, in milliseconds since 1970. */
  readonly validFrom: number;
  readonly validTo: number;
}

/** Null without TLS. */
export function tlsPlacesOf(settings: Settings): TlsPlaces | null {
  const { tlsCertPath: cert, tlsKeyPath: key, tlsClientCaPath: clientCa } = settings;
  return cert === null || key === null ? null : { cert, key, clientCa };
}

/** As the transport takes it. */
export function tlsOptionsOf({ cert, key, clientCa }: TlsFiles): TlsOptions {
  if (clientCa === null) return { cert, key };
  return { cert, key, ca: clientCa, requestCert: true, rejectUnauthorized: true };
}

/**
 * Reads the files and checks that a handshake can succeed with them.
 *
 * @param now milliseconds since 1970
 * @throws AppError `unreadable_file`, or `invalid_configuration` for what is not PEM, does not fit or is not valid now
 */
export function readTlsFiles(places: TlsPlaces, now: number): TlsFiles {
  const cert = read('--tls-cert-path', places.cert);
  const key = read('--tls-key-path', places.key);
  const clientCa = places.clientCa === null ? null : read('--tls-client-ca-path', places.clientCa);

  const [own] = certificates('--tls-cert-path', places.cert, cert);
  if (!own.checkPrivateKey(privateKey(places.key, key))) {
    refuse('--tls-key-path', places.key, `is not the key of the certificate in ${places.cert}: give both of one pair`);
  }
  checkValid('--tls-cert-path', places.cert, own, now);
  if (places.clientCa !== null && clientCa !== null) {
    const [first, ...more] = certificates('--tls-client-ca-path', places.clientCa, clientCa);
    // Of several authorities an old one may be over.
    if (![first, ...more].some((one) => now < endOf(one)))
      checkValid('--tls-client-ca-path', places.clientCa, first, now);
  }
  const files = { cert, key, clientCa, validFrom: Date.parse(own.validFrom), validTo: endOf(own) };
  try {
    createSecureContext(tlsOptionsOf(files));
  } catch (error) {
    refuse('--tls-cert-path', places.cert, `cannot be used for TLS: ${messageOf(error)}`);
  }
  return files;
}

function read(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const message = `${flag} ${path}: cannot be read: ${messageOf(error)}; give a file in PEM that the service may read`;
    throw new AppError('unreadable_file', message, { cause: error });
  }
}

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/** At least one. */
function certificates(flag: string, path: string, text: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = text.split(BEGIN).slice(1);
  const [first, ...more] = blocks.map((block) =>
    certificate(flag, path, `${BEGIN}${block.split(END)[0] ?? ''}${END}\n`),
  );
  if (first === undefined) return refuse(flag, path, `holds no certificate: expected PEM with ${BEGIN}`);
  return [first, ...more];
}

function certificate(flag: string, path: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    return refuse(flag, path, `holds a certificate that cannot be read: ${messageOf(error)}; expected PEM`);
  }
}

function privateKey(path: string, text: string): KeyObject {
  if (text.includes('ENCRYPTED')) {
    return refuse(
      '--tls-key-path',
      path,
      'is encrypted: expected a key without passphrase, in a file of the service alone',
    );
  }
  try {
    return createPrivateKey(text);
  } catch {
    // The reason may quote the file, which could be a key of another form.
    return refuse('--tls-key-path', path, 'holds no private key: expected PEM with -----BEGIN PRIVATE KEY-----');
  }
}

function checkValid(flag: string, path: string, one: X509Certificate, now: number): void {
  if (now >= endOf(one)) refuse(flag, path, `expired on ${one.validTo}: renew the certificate`);
  if (now < Date.parse(one.validFrom)) {
    refuse(flag, path, `is not valid before ${one.validFrom}: check the clock, or wait with this certificate`);
  }
}

function endOf(one: X509Certificate): number {
  return Date.parse(one.validTo);
}

function refuse(flag: string, path: string, problem: string): never {
  throw new AppError('invalid_configuration', `${flag} ${path}: ${problem}`);
}
