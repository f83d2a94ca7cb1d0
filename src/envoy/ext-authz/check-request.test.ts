import { BinaryWriter } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AttributeContext_HttpRequest as HttpRequest } from '../../gen/envoy/service/auth/v3/attribute_context.ts';
import { CheckRequest as Generated } from '../../gen/envoy/service/auth/v3/external_auth.ts';
import { CheckRequest } from './check-request.ts';

type Header = readonly [name: string, value: Buffer];

const encode = (http: HttpRequest): Buffer =>
  Buffer.from(Generated.encode({ attributes: { request: { http } } }).finish());

function read(http: HttpRequest): CheckRequest {
  const request = CheckRequest.read(encode(http));
  if (request === null) throw new Error('unreadable');
  return request;
}

const listed = (headers: readonly Header[]) => ({
  headers: headers.map(([key, rawValue]) => ({ key, rawValue })),
});

const text = (request: CheckRequest, name: string) => {
  const bytes = request.first(name);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
};

const name = fc.constantFrom('x-smg-routing-key', 'x-smg-target-worker', 'cookie', 'x-a', 'x-ab', 'accept');
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const http = fc.record({
  method: fc.constantFrom('POST', 'GET', 'POSTS', ''),
  path: fc.constantFrom('/v1/chat/completions?a=b', '', '/ü'),
  host: fc.constantFrom('', 'fleet.test:8080'),
  protocol: fc.constantFrom('', 'HTTP/1.1', 'HTTP/2'),
});
const noise = fc.record({
  field: fc.integer({ min: 14, max: 4000 }),
  wire: fc.constantFrom(0 as const, 1 as const, 2 as const, 5 as const),
  bytes,
});

/** A message as a newer Envoy sends it: with fields that we do not know, on every level. */
function withNoise(message: Buffer, unknown: readonly { field: number; wire: 0 | 1 | 2 | 5; bytes: Buffer }[]): Buffer {
  const writer = new BinaryWriter();
  for (const each of unknown) {
    writer.tag(each.field, each.wire);
    if (each.wire === 2) writer.bytes(each.bytes);
    else if (each.wire === 0) writer.uint64(2n ** 64n - BigInt(each.bytes.length) - 1n);
    else writer.raw(Buffer.alloc(each.wire === 1 ? 8 : 4, 7));
  }
  return Buffer.concat([Buffer.from(writer.finish()), message]);
}

function wrapped(field: number, message: Buffer): Buffer {
  return Buffer.from(new BinaryWriter().tag(field, 2).bytes(message).finish());
}

describe('a CheckRequest is read as the generated code reads it', () => {
  it('with headers as a list of bytes, whatever else stands there', () => {
    fc.assert(
      fc.property(
        http,
        fc.array(fc.tuple(name, bytes), { maxLength: 12 }),
        bytes,
        fc.array(noise, { maxLength: 3 }),
        (plain, headers, rawBody, unknown) => {
          const sent = { ...plain, headerMap: listed(headers), rawBody };
          // Around it come the levels `http`, `request` and `attributes`.
          const message = [2, 4, 1].reduce(
            (inner, field) => withNoise(wrapped(field, inner), unknown),
            withNoise(Buffer.from(HttpRequest.encode(sent).finish()), unknown),
          );
          expect(Generated.decode(message).attributes?.request?.http).toMatchObject(sent);
          const request = CheckRequest.read(message)!;

          expect([request.method, request.path]).toEqual([
            Buffer.from(plain.method).toString('latin1'),
            Buffer.from(plain.path).toString('latin1'),
          ]);
          for (const each of ['x-smg-routing-key', 'x-smg-target-worker', 'cookie', 'x-a', 'x-ab', 'accept', 'x-abc']) {
            const first = headers.find(([key]) => key === each)?.[1];
            expect(request.first(each)).toEqual(first);
          }
          expect(request.body?.bytes).toEqual(rawBody.length === 0 ? undefined : rawBody);
          expect(text(request, 'host')).toBe(plain.host === '' ? undefined : plain.host);
          expect(request.present(new Set(['cookie', 'x-a']), 'x-smg-').toSorted()).toEqual(
            [
              ...new Set(
                headers
                  .map(([key]) => key)
                  .filter((key) => ['cookie', 'x-a'].includes(key) || key.startsWith('x-smg-')),
              ),
            ].toSorted(),
          );
        },
      ),
    );
  });

  it('with headers and body as text', () => {
    fc.assert(
      fc.property(fc.dictionary(name, fc.string({ unit: 'grapheme' })), fc.string(), (headers, body) => {
        const request = read({ headers, body });
        for (const [key, value] of Object.entries(headers)) expect(text(request, key)).toBe(value);
        expect(request.first('x-abc')).toBeUndefined();
        expect(request.body?.bytes.toString()).toBe(body === '' ? undefined : Buffer.from(body).toString());
      }),
    );
  });

  it('never throws, whatever the bytes, and never reads on past a cut', () => {
    fc.assert(
      fc.property(bytes, (any) => {
        const request = CheckRequest.read(any);
        request?.first('x-a');
        expect(request?.body ?? null).toBeOneOf([null, expect.anything()]);
      }),
    );
    const whole = encode({ method: 'POST', path: '/', headers: { 'x-a': '1' }, rawBody: Buffer.from('body') });
    for (let end = 1; end < whole.length; end++) expect(CheckRequest.read(whole.subarray(0, end)), `${end}`).toBeNull();
    expect(CheckRequest.read(whole)).not.toBeNull();
  });
});

describe('a field number of more than 29 bits', () => {
  it.each(['80808080 10', 'f4b4f4fc c9f98281 0a', 'ffffffff ffffffff 7f'])('%s: is no message', (hex) => {
    const tag = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    expect(CheckRequest.read(Buffer.concat([tag, Buffer.alloc(1)]))).toBeNull();
  });
});

describe('envoy 11.1 the body', () => {
  const partial = (value: string): Header => ['x-envoy-auth-partial-body', Buffer.from(value)];

  it.each([
    [[], true],
    [[partial('false')], true],
    [[partial('true')], false],
    // A client's own header stands before Envoy's.
    [[partial('true'), partial('false')], true],
    [[partial('false'), partial('true')], false],
  ] as const)('%#: told by the last x-envoy-auth-partial-body', (headers, complete) => {
    const request = read({ headerMap: listed(headers), rawBody: Buffer.from('{"rid":') });
    expect(request.body).toEqual({ bytes: Buffer.from('{"rid":'), complete });
  });

  it('that is empty was not sent', () => {
    expect(read({ rawBody: Buffer.alloc(0), headerMap: listed([partial('true')]) }).body).toBeNull();
  });
});

describe('RFC 9112 6.3 whether a body follows', () => {
  it.each([
    ['HTTP/1.1', {}, true],
    ['HTTP/1.0', {}, true],
    ['HTTP/1.1', { 'content-length': '0' }, true],
    ['HTTP/1.1', { 'content-length': '5' }, false],
    ['HTTP/1.1', { 'content-length': '05' }, false],
    ['HTTP/1.1', { 'transfer-encoding': 'chunked' }, false],
    ['HTTP/2', {}, false],
    ['HTTP/2', { 'content-length': '0' }, true],
    ['', {}, false],
  ] as const)('%s %j: ends with its head %j', (protocol, headers, ends) => {
    expect(read({ protocol, headers }).endOfStream).toBe(ends);
  });

  it('a body that is there follows', () => {
    expect(read({ protocol: 'HTTP/1.1', headers: {}, body: 'x' }).endOfStream).toBe(false);
  });
});
