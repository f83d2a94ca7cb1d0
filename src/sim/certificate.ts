import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A certificate and its private key, PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** DNS names and IPv4 addresses it is for. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly days: number;
}

const DAY_MS = 86_400_000;
const COMMON_NAME = [2, 5, 4, 3];
const SUBJECT_ALT_NAME = [2, 5, 29, 17];
const ECDSA_WITH_SHA256 = [1, 2, 840, 10045, 4, 3, 2];

/** A certificate signed by its own new key (RFC 5280), which whoever trusts it can also name as its authority. */
export function selfSigned({ names, now, days }: CertificateOptions): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const name = sequence(der(SET, sequence(oid(COMMON_NAME), text(UTF8, names[0] ?? ''))));
  // A day back, for clocks that differ.
  const validity = sequence(time(now - DAY_MS), time(now + days * DAY_MS));
  const extensions = sequence(sequence(oid(SUBJECT_ALT_NAME), der(OCTETS, sequence(...names.map(altName)))));
  const content = sequence(
    der(tagged(0), der(INTEGER, Buffer.from([2]))),
    der(INTEGER, serial()),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(tagged(3), extensions),
  );
  const signature = der(BITS, Buffer.from([0]), sign('sha256', content, privateKey));
  const whole = sequence(content, algorithm, signature);
  return { cert: pem('CERTIFICATE', whole), key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) };
}

const INTEGER = 0x02;
const BITS = 0x03;
const OCTETS = 0x04;
const OBJECT = 0x06;
const UTF8 = 0x0c;
const UTC_TIME = 0x17;
const SET = 0x31;
const SEQUENCE = 0x30;
/** GeneralName (RFC 5280 4.2.1.6). */
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

function tagged(number: number): number {
  return 0xa0 | number;
}

/** One value as DER: tag, length, content (X.690 8.1). */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

/** As short as it can be, which strict readers insist on. */
function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(SEQUENCE, ...parts);
}

function text(tag: number, value: string): Buffer {
  return der(tag, Buffer.from(value));
}

function oid([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  return der(OBJECT, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) bytes.unshift(0x80 | (left & 0x7f));
  return bytes;
}

/** Two digits for the year do up to 2049 (RFC 5280 4.1.2.5.1). */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\.\d+|\D/g, '');
  return text(UTC_TIME, `${digits.slice(2)}Z`);
}

/** Positive, and no byte too many. */
function serial(): Buffer {
  const bytes = randomBytes(8);
  bytes[0] = 0x40 | (bytes.readUInt8(0) & 0x3f);
  return bytes;
}

function altName(name: string): Buffer {
  return isIPv4(name) ? der(IP_ADDRESS, Buffer.from(name.split('.').map(Number))) : text(DNS_NAME, name);
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{1,64}/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}-----END ${label}-----\n`;
}
