import { X509Certificate } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { selfSigned } from './certificate.ts';

const NOW = Date.UTC(2030, 0, 31, 12);

describe('RFC 5280 a certificate signed by itself', () => {
  const { cert, key } = selfSigned({
    names: ['localhost', 'w.example', '127.0.0.1', '10.200.0.255'],
    now: NOW,
    days: 3,
  });
  const read = new X509Certificate(cert);

  it('says for whom and for how long it is', () => {
    expect(read.subject).toBe('CN=localhost');
    expect(read.issuer).toBe('CN=localhost');
    expect(read.subjectAltName).toBe('DNS:localhost, DNS:w.example, IP Address:127.0.0.1, IP Address:10.200.0.255');
    expect(new Date(read.validFrom).getTime()).toBe(NOW - 86_400_000);
    expect(new Date(read.validTo).getTime()).toBe(NOW + 3 * 86_400_000);
    expect(read.checkHost('w.example')).toBe('w.example');
    expect(read.checkIP('127.0.0.1')).toBe('127.0.0.1');
  });

  it('is strict DER: no length takes more bytes than it must (X.690 10.1)', () => {
    for (let pad = 0; pad < 150; pad += 7) {
      const names = ['localhost', 'x'.repeat(pad + 1)];
      expect(nonMinimalLengths(new X509Certificate(selfSigned({ names, now: NOW, days: 3 }).cert).raw)).toBe(0);
    }
  });

  it('is signed with its own key, and each has a number of its own', () => {
    expect(read.verify(read.publicKey)).toBe(true);
    const other = new X509Certificate(selfSigned({ names: ['localhost'], now: NOW, days: 3 }).cert);
    expect(other.serialNumber).not.toBe(read.serialNumber);
    expect(other.verify(read.publicKey)).toBe(false);
  });

  it('is trusted by whoever names it as an authority', async () => {
    const now = selfSigned({ names: ['localhost'], now: Date.now(), days: 1 });
    const server = createServer(now, (socket) => socket.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const hello = (ca: string) =>
      new Promise<string>((resolve) => {
        const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca });
        socket.on('data', (data) => resolve(String(data)));
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      });

    expect(await hello(now.cert)).toBe('hello');
    expect(await hello(cert)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    server.close();
    expect(key).toContain('PRIVATE KEY');
  });
});

/** Lengths of constructed values, all the way down, that could be shorter. */
function nonMinimalLengths(bytes: Buffer): number {
  let found = 0;
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes.readUInt8(at);
    const first = bytes.readUInt8(at + 1);
    const more = first < 0x80 ? 0 : first & 0x7f;
    const length = more === 0 ? first : bytes.readUIntBE(at + 2, more);
    if ((more === 1 && length < 0x80) || (more === 2 && length < 0x100)) found += 1;
    const start = at + 2 + more;
    if ((tag & 0x20) !== 0) found += nonMinimalLengths(bytes.subarray(start, start + length));
    at = start + length;
  }
  return found;
}
