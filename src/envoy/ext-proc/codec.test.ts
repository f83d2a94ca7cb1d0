import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProcessingRequest, ProcessingResponse } from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import { HeadView } from '../pick/head-view.ts';
import { CONTINUE, decode, encodeAnswer, encodeImmediate } from './codec.ts';
import { changesIn, httpHeaders } from './fixture.suite.ts';
import { PHASES } from './message.ts';

const encode = (message: ProcessingRequest): Buffer => Buffer.from(ProcessingRequest.encode(message).finish());

describe('decoding', () => {
  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        decode(Buffer.from(bytes));
      }),
    );
  });

  it('never throws on a message with some bytes changed or cut off', () => {
    const whole = encode({
      request: { $case: 'requestHeaders', value: httpHeaders({ ':method': 'POST', 'x-a': 'b' }, true) },
      attributes: { 'envoy.filters.http.ext_proc': { 'request.path': '/' } },
      protocolConfig: { requestBodyMode: 4, responseBodyMode: 4 },
    });
    fc.assert(
      fc.property(fc.nat(whole.length), fc.nat(whole.length - 1), fc.nat(255), (length, at, value) => {
        const bytes = Buffer.from(whole);
        bytes[at] = value;
        decode(bytes.subarray(0, length));
      }),
    );
  });

  it('reads headers, body and end of any message', () => {
    const headers = fc.dictionary(fc.stringMatching(/^[a-z:-]{1,20}$/), fc.string({ maxLength: 50 }), { maxKeys: 20 });
    fc.assert(
      fc.property(headers, fc.uint8Array(), fc.boolean(), (map, bytes, endOfStream) => {
        const plain = Object.fromEntries(
          Object.entries(map).map(([key, value]) => [key, value.replace(/[^ -~]/g, '')]),
        );
        const head = decode(encode({ request: { $case: 'requestHeaders', value: httpHeaders(plain, endOfStream) } }));
        const body = Buffer.from(bytes);
        const piece = decode(encode({ request: { $case: 'responseBody', value: { body, endOfStream } } }));

        expect(head).toMatchObject({ phase: 'request_headers', endOfStream, protocol: null });
        for (const [key, value] of Object.entries(plain)) expect(head?.head?.text(key)).toBe(value);
        expect(piece).toMatchObject({ phase: 'response_body', endOfStream, body, head: null });
      }),
    );
  });

  it('keeps a body mode that it does not know as none', () => {
    const bytes = encode({
      request: { $case: 'requestTrailers', value: {} },
      protocolConfig: { requestBodyMode: 9 as 0 },
    });

    expect(decode(bytes)?.protocol?.requestBodyMode).toBe('none');
  });
});

describe('encoding', () => {
  it.each(PHASES)('continue for %s is an answer of that kind and nothing more', (phase) => {
    const [first = '', second = ''] = phase.split('_');
    const answer = ProcessingResponse.decode(CONTINUE[phase]);

    expect(answer.response?.$case).toBe(`${first}${second.charAt(0).toUpperCase()}${second.slice(1)}`);
    expect(changesIn(answer)).toEqual({ set: {}, remove: [] });
    expect([answer.dynamicMetadata, answer.modeOverride]).toEqual([undefined, undefined]);
  });

  it('round-trips header changes', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const changes = { remove: ['a'], set: [{ name: 'b', value }] };
        const answer = {
          phase: 'request_body',
          changes,
          metadata: null,
          clearRouteCache: false,
          askForBody: false,
          body: null,
        } as const;

        expect(changesIn(ProcessingResponse.decode(encodeAnswer(answer)))).toEqual({
          set: { b: String(Buffer.from(value)) },
          remove: ['a'],
        });
      }),
    );
  });

  it('always gives an immediate response its status, since none means 200 (envoy 10.2)', () => {
    const bytes = encodeImmediate({ status: 413, headers: [], body: '{}', details: 'request_body_too_large' });
    const { response } = ProcessingResponse.decode(bytes);

    expect(response).toMatchObject({ $case: 'immediateResponse', value: { status: { code: 413 } } });
  });
});

describe('the head view', () => {
  it('answers with the first of repeated headers, as bytes, and tells an empty one from an absent one', () => {
    const head = new HeadView(
      [
        { key: ':method', rawValue: Buffer.from('GET') },
        { key: 'x-a', rawValue: Buffer.from([0xff, 0xfe]) },
        { key: 'x-a', rawValue: Buffer.from('second') },
        { key: 'x-empty', rawValue: Buffer.alloc(0) },
        { key: 'x-old', value: 'text' },
      ],
      false,
    );

    expect([head.method, head.path]).toEqual(['GET', '']);
    expect(head.first('x-a')).toEqual(Buffer.from([0xff, 0xfe]));
    expect(head.first('x-empty')).toEqual(Buffer.alloc(0));
    expect(head.first('x-none')).toBeUndefined();
    expect(String(head.first('x-old'))).toBe('text');
    expect(head.present(new Set(['x-a', 'x-none']), 'x-b')).toEqual(['x-a']);
  });
});
