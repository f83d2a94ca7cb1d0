import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { baseUrl, overlap, parseWorkerUrl, rankUrl, type WorkerUrl } from './worker-url.ts';

describe('interface 6 worker URLs', () => {
  it.each([
    ['http://10.0.0.1:8000', 'http://10.0.0.1:8000', '10.0.0.1', 8000, '10.0.0.1:8000'],
    ['http://10.0.0.1:8000/', 'http://10.0.0.1:8000', '10.0.0.1', 8000, '10.0.0.1:8000'],
    ['http://10.0.0.1', 'http://10.0.0.1', '10.0.0.1', 80, '10.0.0.1:80'],
    ['http://[::1]:8000', 'http://[::1]:8000', '::1', 8000, '[::1]:8000'],
    ['http://[2001:DB8:0:0::1]', 'http://[2001:DB8:0:0::1]', '2001:db8:0:0::1', 80, '[2001:db8::1]:80'],
    ['http://localhost:8000', 'http://localhost:8000', 'localhost', 8000, ''],
    ['http://Worker-1.Example.COM:1', 'http://Worker-1.Example.COM:1', 'worker-1.example.com', 1, ''],
    ['http://vllm_0.ns.svc:65535/', 'http://vllm_0.ns.svc:65535', 'vllm_0.ns.svc', 65_535, ''],
    ['https://10.0.0.1:8443/', 'https://10.0.0.1:8443', '10.0.0.1', 8443, '10.0.0.1:8443'],
    ['https://w.example', 'https://w.example', 'w.example', 443, ''],
    ['grpc://w:9000', 'grpc://w:9000', 'w', 9000, ''],
    ['grpc://10.0.0.1', 'grpc://10.0.0.1', '10.0.0.1', 80, '10.0.0.1:80'],
    ['grpcs://[::1]', 'grpcs://[::1]', '::1', 443, '[::1]:443'],
  ])('%s is read', (text, id, host, port, address) => {
    const result = parseWorkerUrl(text);

    expect(result).toMatchObject({ ok: true, url: { id, port, address } });
    expect(result.ok && result.url.host.toLowerCase()).toBe(host);
  });

  it.each([
    ['http://W:80', 'http://w'],
    ['http://[::1]', 'http://[0:0:0:0:0:0:0:1]:80'],
    ['https://w', 'https://W:443'],
    ['http://w:8000', 'https://w:8000'],
  ])('%s and %s are one endpoint', (one, other) => {
    const [a, b] = [parseWorkerUrl(one), parseWorkerUrl(other)];

    expect(a.ok && b.ok && a.url.endpoint === b.url.endpoint).toBe(true);
  });

  it.each([
    ['ipc:///tmp/w', 'scheme ipc'],
    ['h2c://w:8000', 'scheme h2c, which is not supported (HTTP/2 without TLS is http:// with --upstream-http2'],
    ['h2://w:8000', 'scheme h2, which is not supported (HTTP/2 over TLS is https:// with --upstream-http2'],
    ['HTTPS://w:8000', 'not in lower case'],
    ['ftp://w', 'scheme ftp'],
    ['HTTP://w:8000', 'not in lower case'],
    ['w:8000', 'no scheme'],
    ['//w:8000', 'no scheme'],
    ['http:/w', 'no scheme'],
    ['', 'no scheme'],
    ['http://', 'no host'],
    ['http://:8000', 'no host'],
    ['http://w/v1', 'a path'],
    ['http://w//', 'a path'],
    ['http://w?x=1', 'a query'],
    ['http://w#x', 'a query or a fragment'],
    ['http://w:0', 'a port'],
    ['http://w:65536', 'a port'],
    ['http://w:', 'a port'],
    ['http://w:http', 'a port'],
    ['http://w:08000', 'a port'],
    ['http://::1:8000', 'an IPv6 address without brackets'],
    ['http://[::1', 'no valid host'],
    ['http://[10.0.0.1]:80', 'no valid host'],
    ['http://[fe80::1%eth0]:80', 'no valid host'],
    ['http://10.0.0.256', 'no valid host'],
    ['http://1.2.3', 'no valid host'],
    ['http://a b', 'no valid host'],
    ['http://a..b', 'no valid host'],
    ['http://-a', 'no valid host'],
    ['http://wörker', 'no valid host'],
    [`http://${'a'.repeat(64)}`, 'no valid host'],
  ])('%j is refused: it has %s', (text, why) => {
    const result = parseWorkerUrl(text);

    expect(result).toMatchObject({ ok: false, message: expect.stringContaining(why) });
    expect(result).toMatchObject({ message: expect.stringContaining(JSON.stringify(text)) });
    expect(result).toMatchObject({ message: expect.stringContaining('allowed: http://HOST[:PORT]') });
  });

  it.each([
    ['http://10.0.0.1:8000@0', 'http://10.0.0.1:8000', 0, '10.0.0.1:8000'],
    ['http://[::1]:8000@12', 'http://[::1]:8000', 12, '[::1]:8000'],
    ['http://host@4095', 'http://host', 4095, ''],
  ])('%s is a data-parallel rank', (text, base, rank, address) => {
    const result = parseWorkerUrl(text);

    expect(result).toMatchObject({ ok: true, url: { id: text, base, rank, address } });
    expect(result.ok && result.url).toEqual(rankUrl(urlOf(base), rank));
    expect(result.ok && baseUrl(result.url)).toEqual(urlOf(base));
  });

  it.each([
    ['http://host@4096', 'a rank above 4095'],
    ['http://host@01', 'user information'],
    ['grpc://host@1', 'a rank, which no gRPC request can name'],
    ['http://host@-1', 'user information'],
    ['http://host@1/', 'user information'],
    ['http://host@1@1', 'user information'],
    ['http://host/@1', 'a path'],
    ['http://@1', 'no host'],
    ['http://host@', 'user information'],
  ])('%s is refused: it has %s', (text, why) => {
    expect(parseWorkerUrl(text)).toMatchObject({ ok: false, message: expect.stringContaining(why) });
  });

  it.each([
    ['http://a', 'http://A:80', true],
    ['http://a@1', 'http://A:80@1', true],
    ['http://a', 'http://a@1', true],
    ['http://a@0', 'http://a@1', false],
    ['http://a@1', 'http://b@1', false],
  ])('%s and %s overlap: %s', (one, other, expected) => {
    expect(overlap(urlOf(one), urlOf(other))).toBe(expected);
    expect(overlap(urlOf(other), urlOf(one))).toBe(expected);
  });

  it('does not repeat a password', () => {
    const result = parseWorkerUrl('http://user:secret@w:8000');

    expect(result).toMatchObject({ ok: false, message: expect.stringContaining('user information') });
    expect(JSON.stringify(result)).not.toContain('secret');
  });

  it('never throws, and reads its own ids as the same endpoint', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `http://${text}`),
        ),
        (text) => {
          const result = parseWorkerUrl(text);
          if (result.ok) expect(parseWorkerUrl(result.url.id)).toEqual(result);
        },
      ),
    );
  });
});

function urlOf(text: string): WorkerUrl {
  const result = parseWorkerUrl(text);
  if (!result.ok) throw new Error(result.message);
  return result.url;
}
