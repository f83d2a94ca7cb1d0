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
