import { generateKeyPairSync, sign } from 'node:crypto';

/** A certificate of its own authority for 127.0.0.1, ::1 and localhost, with its key; both PEM. */
export interface SelfSigned {
  readonly cert: string;
  readonly key: string;
}

/** Makes one that holds from yesterday on for ten years (RFC 5280). */
export function selfSigned(): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)); // ecdsa-with-SHA256
  const name = sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from('test')))));
  const alternatives = sequence(
    der(0x82, Buffer.from('localhost')),
    der(0x87, Buffer.from([127, 0, 0, 1])),
    der(0x87, Buffer.from([...new Array<number>(15).fill(0), 1])),
  );
  const extensions = sequence(
    sequence(
      oid(0x55, 0x1d, 0x13),
      der(0x01, Buffer.from([0xff])),
      der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
    ),
    sequence(oid(0x55, 0x1d, 0x11), der(0x04, alternatives)),
  );
  const body = sequence(
    der(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(time(-1), time(3650)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  return {
    cert: pem(sequence(body, algorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

function sequence(...items: readonly Buffer[]): Buffer {
  return der(0x30, ...items);
}

function oid(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

function time(daysFromNow: number): Buffer {
  const text = new Date(Date.now() + daysFromNow * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(text));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
