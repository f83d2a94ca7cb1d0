import { describe, expect, it } from 'vitest';
import type { ProcessingResponse } from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import { CHUNK_BYTES } from './echo.ts';
import { chunksIn, HEADERS_DO, pickOf, READ, REFUSAL, Stream } from './fixture.suite.ts';
import { HeldTotal } from './held-total.ts';

const BOTH = { request: 'full_duplex', response: 'full_duplex' } as const;
const SIZES = [0, 1, 62_000, 62_001, 64 * 1024, 1024 * 1024];

function bytesOf(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; i += 1) bytes[i] = (i * 31) & 0xff;
  return bytes;
}

/** The end flag stands on the last piece and nowhere else. */
function expectEcho(answers: readonly ProcessingResponse[], whole: Buffer, ended: boolean): void {
  const chunks = chunksIn(answers);
  expect(Buffer.concat(chunks.map((chunk) => chunk.body)).equals(whole)).toBe(true);
  expect(Math.max(0, ...chunks.map((chunk) => chunk.body.length))).toBeLessThanOrEqual(CHUNK_BYTES);
  expect(chunks.map((chunk) => chunk.endOfStream)).toEqual(chunks.map((_, i) => ended && i === chunks.length - 1));
  if (ended) expect(chunks.length).toBeGreaterThan(0);
}

const ENDS = ['flag on the last piece', 'an empty last piece', 'trailers', 'the end twice'] as const;

/** Sends a body in three uneven pieces and its end. */
function sendBody(stream: Stream, whole: Buffer, end: (typeof ENDS)[number]): void {
  const cuts = [0, Math.floor(whole.length / 7), Math.floor(whole.length / 2), whole.length];
  for (let i = 0; i < 3; i += 1) {
    const last = i === 2 && (end === 'flag on the last piece' || end === 'the end twice');
    stream.requestBody(whole.subarray(cuts[i], cuts[i + 1]), last);
  }
  if (end === 'an empty last piece') stream.requestBody('', true);
  if (end === 'the end twice') stream.requestBody(whole, true);
  if (end === 'trailers') stream.requestTrailers();
}

describe('envoy 4.6 full duplex requests', () => {
  describe.each(ENDS)('the body ends with %s', (end) => {
    it.each(SIZES)(
      '%i bytes, body needed: holds the header answer, decides by all of it, gives every byte back',
      (size) => {
        const stream = new Stream(BOTH);
        stream.picker.planned = READ;
        const whole = bytesOf(size);

        expect(stream.requestHeaders()).toEqual([]);
        sendBody(stream, whole, end);

        const [header, ...rest] = stream.call.sent;
        expect(header?.response?.$case).toBe('requestHeaders');
        expect(header?.dynamicMetadata?.['picker']).toEqual({ pick_id: 'p1' });
        expect(stream.picker.asked[0]?.body?.complete).toBe(true);
        expect(stream.picker.asked[0]?.body?.bytes.equals(whole)).toBe(true);
        expectEcho(rest, whole, end !== 'trailers');
        expect(stream.call.kinds.filter((kind) => kind === 'requestTrailers')).toHaveLength(end === 'trailers' ? 1 : 0);
        expect(stream.call.kinds.at(-1)).toBe(end === 'trailers' ? 'requestTrailers' : 'requestBody');
        expect(stream.picker.asked[0]?.facts.endpointPicker).toBe(true);
      },
    );

    it.each(SIZES)('%i bytes, headers suffice: answers at once and gives pieces back as they come', (size) => {
      const stream = new Stream(BOTH);
      stream.picker.planned = HEADERS_DO;
      const whole = bytesOf(size);

      expect(stream.requestHeaders()).toHaveLength(1);
      if (size > 14) expect(stream.requestBody(whole.subarray(0, 7), false)).toHaveLength(1);
      sendBody(stream, size > 14 ? whole.subarray(7) : whole, end);

      expectEcho(stream.call.sent.slice(1), whole, end !== 'trailers');
    });
  });

  it('holds nothing back for a request without a body', () => {
    const stream = new Stream(BOTH);
    stream.picker.planned = READ;

    expect(stream.requestHeaders({}, true)).toHaveLength(1);
    expect(chunksIn(stream.call.sent)).toEqual([]);
  });

  it('decides by the beginning of a body above the collection limit, and gives the rest back as it comes', () => {
    const stream = new Stream(BOTH, { collectLimitBytes: 10 });
    stream.picker.planned = READ;
    stream.requestHeaders();

    stream.requestBody('123456', false);
    stream.requestBody('7890ab', false);
    stream.requestBody('cd', true);

    expect(stream.picker.asked).toMatchObject([{ body: { bytes: Buffer.from('1234567890ab'), complete: false } }]);
    expectEcho(stream.call.sent.slice(1), Buffer.from('1234567890abcd'), true);
  });

  describe('all streams hold 10 bytes together', () => {
    function streams(count: number): readonly Stream[] {
      const held = new HeldTotal(10);
      return Array.from({ length: count }, () => {
        const stream = new Stream(BOTH, { held });
        stream.picker.planned = READ;
        stream.requestHeaders();
        return stream;
      });
    }

    it('decides by the beginning of the body with which the bound is reached, and gives the rest back as it comes', () => {
      const [first, second] = streams(2);

      first?.requestBody('12345', false);
      second?.requestBody('67890', false);
      second?.requestBody('ab', true);

      expect(first?.picker.asked).toEqual([]);
      expect(second?.picker.asked).toMatchObject([{ body: { bytes: Buffer.from('67890'), complete: false } }]);
      expectEcho(second?.call.sent.slice(1) ?? [], Buffer.from('67890ab'), true);
    });

    it('decides by a body that comes whole, however much the others hold', () => {
      const [first, second] = streams(2);

      first?.requestBody('123456789', false);
      second?.requestBody('0123456789', true);

      expect(second?.picker.asked).toMatchObject([{ body: { bytes: Buffer.from('0123456789'), complete: true } }]);
    });

    it.each(['decided', 'closed', 'refused'])('a body that is %s counts no longer', (how) => {
      const [first, second] = streams(2);

      first?.requestBody('123456789', false);
      if (how === 'refused' && first !== undefined) first.picker.answer = () => REFUSAL;
      if (how === 'closed') first?.close();
      else first?.requestBody('', true);
      second?.requestBody('123456789', false);
      second?.requestBody('0', true);

      expect(second?.picker.asked).toMatchObject([{ body: { bytes: Buffer.from('1234567890'), complete: true } }]);
    });
  });

  it('gives every byte back when the picker fails', () => {
    const stream = new Stream(BOTH);
    stream.picker.planned = READ;
    stream.picker.answer = () => {
      throw new Error('broken');
    };
    stream.requestHeaders();
    stream.requestBody('abc', true);

    expect(stream.call.sent[0]?.dynamicMetadata).toBeUndefined();
    expectEcho(stream.call.sent.slice(1), Buffer.from('abc'), true);
    expect(stream.observer.notes).toEqual(expect.arrayContaining(['pickFailed:broken', 'passed:internal_error']));
  });

  it('keeps pieces and trailers that come while the decision is pending, in order', async () => {
    const stream = new Stream(BOTH);
    stream.picker.planned = HEADERS_DO;
    stream.picker.answer = () => Promise.resolve(pickOf('p1'));

    stream.requestHeaders();
    stream.requestBody('abc', false);
    stream.requestBody('def', false);
    stream.requestTrailers();
    expect(stream.call.sent).toEqual([]);
    await Promise.resolve();

    expect(stream.call.kinds).toEqual(['requestHeaders', 'requestBody', 'requestBody', 'requestTrailers']);
    expectEcho(stream.call.sent, Buffer.from('abcdef'), false);
  });

  it('answers an early response while the request is held back', () => {
    const stream = new Stream(BOTH);
    stream.picker.planned = READ;
    stream.requestHeaders();
    stream.requestBody('abc', false);

    expect(stream.responseHeaders().map((answer) => answer.response?.$case)).toEqual(['responseHeaders']);
    stream.requestBody('', true);

    expect(stream.call.kinds).toEqual(['responseHeaders', 'requestHeaders', 'requestBody']);
  });
});

describe('envoy 4.6 full duplex responses', () => {
  it.each(SIZES)('gives %i bytes back with their end', (size) => {
    const stream = new Stream(BOTH);
    stream.requestHeaders({}, true);
    const whole = bytesOf(size);

    const answers = [...stream.responseHeaders(), ...stream.responseBody(whole), ...stream.responseBody(whole)];

    expect(answers[0]?.response?.$case).toBe('responseHeaders');
    expectEcho(answers.slice(1), whole, true);
  });

  it('answers trailers after the body', () => {
    const stream = new Stream(BOTH);
    stream.requestHeaders({}, true);
    stream.responseHeaders();

    const answers = [...stream.responseBody('data', false), ...stream.responseTrailers()];

    expect(answers.map((answer) => answer.response?.$case)).toEqual(['responseBody', 'responseTrailers']);
    expectEcho(answers.slice(0, 1), Buffer.from('data'), false);
  });

  it.each(['streamed', 'buffered', 'buffered_partial'] as const)('gives a plain answer in mode %s', (response) => {
    const stream = new Stream({ response });
    stream.requestHeaders({}, true);
    stream.responseHeaders();

    const [answer] = stream.responseBody('data');

    expect(answer?.response).toMatchObject({ $case: 'responseBody' });
    expect(answer?.response?.$case === 'responseBody' && answer.response.value.response).toBeUndefined();
  });
});
