import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskPinStoreUrl, parsePinStoreUrl } from './pin-store-url.ts';

const PLAIN = { kind: 'single', tls: false, master: '', database: 0, username: null, password: null } as const;

function at(host: string, port: number) {
  return { host, port };
}

describe('interface 3 URLs of --pin-store', () => {
  it.each([
    ['redis://h', { ...PLAIN, hosts: [at('h', 6379)] }],
    ['redis://h/', { ...PLAIN, hosts: [at('h', 6379)] }],
    ['redis://10.0.0.1:7000/3', { ...PLAIN, hosts: [at('10.0.0.1', 7000)], database: 3 }],
    ['redis://[::1]:7000', { ...PLAIN, hosts: [at('::1', 7000)] }],
    ['redis://[fe80::1%eth0]', { ...PLAIN, hosts: [at('fe80::1%eth0', 6379)] }],
    ['rediss://h', { ...PLAIN, tls: true, hosts: [at('h', 6379)] }],
    ['redis://:s3cret@h', { ...PLAIN, hosts: [at('h', 6379)], password: 's3cret' }],
    ['redis://me@h', { ...PLAIN, hosts: [at('h', 6379)], username: 'me' }],
    ['redis://me:a%2Fb%3Fc@h', { ...PLAIN, hosts: [at('h', 6379)], username: 'me', password: 'a/b?c' }],
    ['redis://me:p@ss:w@h:1', { ...PLAIN, hosts: [at('h', 1)], username: 'me', password: 'p@ss:w' }],
    [
      'redis+sentinel://a,b:1/mymaster',
      { ...PLAIN, kind: 'sentinel', hosts: [at('a', 26_379), at('b', 1)], master: 'mymaster' },
    ],
    [
      'rediss+sentinel://u:p@a/m.1/2',
      {
        kind: 'sentinel',
        tls: true,
        hosts: [at('a', 26_379)],
        master: 'm.1',
        database: 2,
        username: 'u',
        password: 'p',
      },
    ],
    ['redis+cluster://a,[::2]:7', { ...PLAIN, kind: 'cluster', hosts: [at('a', 6379), at('::2', 7)] }],
    ['rediss+cluster://a/', { ...PLAIN, kind: 'cluster', tls: true, hosts: [at('a', 6379)] }],
  ])('%s', (url, address) => {
    expect(parsePinStoreUrl(url)).toEqual({ ok: true, address });
  });

  it.each([
    ['', /expected a URL that begins with redis:\/\//],
    ['http://h', /begins with redis/],
    ['redis:h', /begins with redis/],
    ['redis+sentinels://h/m', /begins with redis/],
    ['redis://', /^the host is missing/],
    ['redis://:6379', /^the host is missing/],
    ['redis://me:s3cret@', /^the host is missing/],
    ['redis://h h', /^the host is neither/],
    ['redis://::1', /^the host is neither/],
    ['redis://h:0', /^the port of the host is not/],
    ['redis://h:65536', /^the port of the host is not/],
    ['redis://h:', /^the port of the host is not/],
    ['redis://me:s3cret', /is the @ after a password missing/],
    ['redis://a,b', /several hosts need redis\+sentinel:\/\//],
    ['redis://h/a', /the number of a database$/],
    ['redis://h/1/2', /the number of a database$/],
    ['redis://h/-1', /the number of a database$/],
    ['redis://h?db=1', /options after \? or # are not taken/],
    ['redis://h#x', /options after \? or # are not taken/],
    ['redis://%zz@h', /percent-encoded/],
    ['redis+sentinel://a,b', /^the name of the master is missing/],
    ['redis+sentinel://a//1', /^the name of the master is missing/],
    ['redis+sentinel://a/m m', /^the name of the master holds/],
    ['redis+sentinel://a/m/x', /after the name of the master comes nothing/],
    ['redis+sentinel://a,,b/m', /^host 2 is missing/],
    ['redis+cluster://a:1,b:x', /^the port of host 2/],
    ['redis+cluster://a/0', /^a cluster has no databases/],
  ])('%s is refused with its cure', (url, problem) => {
    const result = parsePinStoreUrl(url);

    expect(result).toEqual({ ok: false, problem: expect.stringMatching(problem) });
    expect(JSON.stringify(result)).not.toContain('s3cret');
  });

  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((ip) => `[${ip}]`),
  );
  const port = fc.option(fc.integer({ min: 1, max: 65_535 }));
  const secret = fc.string({ minLength: 1, unit: 'grapheme' });
  const written = fc.record({
    kind: fc.constantFrom('redis', 'rediss', 'redis+sentinel', 'rediss+sentinel', 'redis+cluster', 'rediss+cluster'),
    hosts: fc.array(fc.tuple(host, port), { minLength: 1, maxLength: 4 }),
    username: fc.option(secret),
    password: fc.option(secret),
    database: fc.integer({ min: 0, max: 999 }),
  });

  it('gives back whatever was written', () => {
    fc.assert(
      fc.property(written, ({ kind, hosts, username, password, database }) => {
        const single = !kind.includes('+');
        const cluster = kind.endsWith('cluster');
        const list = (single ? hosts.slice(0, 1) : hosts).map(([name, of]) => (of === null ? name : `${name}:${of}`));
        const login = `${encodeURIComponent(username ?? '')}:${encodeURIComponent(password ?? '')}@`;
        const path = cluster ? '' : single ? `/${database}` : `/main/${database}`;

        const result = parsePinStoreUrl(`${kind}://${login}${list.join()}${path}`);

        if (!result.ok) throw new Error(result.problem);
        expect(result.address.hosts.map(({ host: name }) => name)).toEqual(
          (single ? hosts.slice(0, 1) : hosts).map(([name]) => name.replace(/[[\]]/g, '')),
        );
        expect(result.address).toMatchObject({ username, password, database: cluster ? 0 : database });
        expect(result.address.tls).toBe(kind.startsWith('rediss'));
      }),
    );
  });

  it('never throws and never tells a secret, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const url = `redis://${before}:S3CR3T@${after}`;
        const result = parsePinStoreUrl(url);

        if (!result.ok) expect(result.problem).not.toContain('S3CR3T');
        expect(maskPinStoreUrl(url)).not.toContain('S3CR3T');
      }),
    );
  });

  it.each([
    ['memory', 'memory'],
    ['disk', 'disk'],
    ['redis://h:1/2', 'redis://h:1/2'],
    ['redis://me:s3cret@h:1/2', 'redis://***@h:1/2'],
    ['redis+sentinel://me:s3@cret@a,b/m', 'redis+sentinel://***@a,b/m'],
    ['redis://me:s3cret', 'redis://***'],
    ['redis://me:s3cret/@h', 'redis://***@h'],
    ['http://me:s3cret@h', 'http://***'],
  ])('%s is shown as %s', (url, shown) => {
    expect(maskPinStoreUrl(url)).toBe(shown);
  });
});
