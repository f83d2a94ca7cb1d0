import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProcessingRequest } from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import { httpHeaders } from './fixture.suite.ts';
import { BODY_MODES, type Incoming } from './message.ts';
import { readMessage } from './read-message.ts';

const FILTER = 'envoy.filters.http.ext_proc';
const encode = (message: ProcessingRequest): Buffer => Buffer.from(ProcessingRequest.encode(message).finish());

/** A field of another schema, in front of or behind the known ones. */
const UNKNOWN = [
  Buffer.from([0xa0, 0x06, 0x96, 0x01]),
  Buffer.from([0xa2, 0x06, 0x03, 1, 2, 3]),
  Buffer.from([0xa5, 0x06, 1, 2, 3, 4]),
  Buffer.from([0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8]),
];

const text = fc.string({ maxLength: 20 });
const ascii = text.map((value) => value.replace(/[^ -~]/g, ''));
const leaf = fc.oneof(text, fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));
const fields = fc.dictionary(
  text,
  fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(text, leaf, { maxKeys: 3 })),
  { maxKeys: 4, noNullPrototype: true },
);
const bytes = fc.uint8Array({ maxLength: 60 }).map((value) => Buffer.from(value));
const header = fc.record({ key: ascii, rawValue: bytes });
const headers = fc.record({
  headers: fc.record({ headers: fc.array(header, { maxLength: 8 }) }),
  endOfStream: fc.boolean(),
});
const body = fc.record({ body: bytes, endOfStream: fc.boolean() });
const trailers = fc.record({ trailers: fc.record({ headers: fc.array(header, { maxLength: 2 }) }) });
const mode = fc.integer({ min: 0, max: 7 });

const request = fc.oneof(
  headers.map((value) => ({ $case: 'requestHeaders' as const, value })),
  headers.map((value) => ({ $case: 'responseHeaders' as const, value })),
  body.map((value) => ({ $case: 'requestBody' as const, value })),
  body.map((value) => ({ $case: 'responseBody' as const, value })),
  trailers.map((value) => ({ $case: 'requestTrailers' as const, value })),
  trailers.map((value) => ({ $case: 'responseTrailers' as const, value })),
);

const message: fc.Arbitrary<ProcessingRequest> = fc.record(
  {
    request,
    observabilityMode: fc.boolean(),
    attributes: fc.dictionary(fc.constantFrom(FILTER, 'another.filter'), fields, { noNullPrototype: true }),
    metadataContext: fc.record({ filterMetadata: fc.dictionary(ascii, fields, { maxKeys: 3, noNullPrototype: true }) }),
    protocolConfig: fc.record({
      requestBodyMode: mode as fc.Arbitrary<0>,
      responseBodyMode: mode as fc.Arbitrary<0>,
      sendBodyWithoutWaitingForHeaderResponse: fc.boolean(),
    }),
  },
  { requiredKeys: ['request'] },
);

/** The same message with its fields in another order, and with fields that nobody knows. */
const wire = fc
  .tuple(message, fc.array(fc.constantFrom(...UNKNOWN), { maxLength: 3 }), fc.infiniteStream(fc.nat()))
  .map(([whole, unknown, order]) => {
    const parts = [...fieldsOf(encode(whole)), ...unknown];
    const keyed = parts.map((part) => ({ part, key: order.next().value ?? 0 }));
    return Buffer.concat(keyed.sort((a, b) => a.key - b.key).map(({ part }) => part));
  });

function fieldsOf(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const from = at;
    const [tag, afterTag] = varint(bytes, at);
    const [value, after] = varint(bytes, afterTag);
    at = tag % 8 === 2 ? after + value : after;
    parts.push(bytes.subarray(from, at));
  }
  return parts;
}

function varint(bytes: Buffer, from: number): [value: number, after: number] {
  let value = 0;
  let unit = 1;
  for (let at = from; ; at++) {
    const byte = bytes[at]!;
    value += (byte & 0x7f) * unit;
    if (byte < 0x80) return [value, at + 1];
    unit *= 128;
  }
}

/** What the generated code reads, in the words of the session; null where it finds no message. */
function byOracle(bytes: Buffer) {
  let read: ProcessingRequest;
  try {
    read = ProcessingRequest.decode(bytes);
  } catch {
    return null;
  }
  const { request: found, protocolConfig: config } = read;
  if (found === undefined) return null;
  const phase = found.$case.replace(/[A-Z]/, (capital) => `_${capital.toLowerCase()}`);
  const value = found.value as { headers?: { headers?: unknown }; body?: Buffer; endOfStream?: boolean };
  const isTrailers = phase.endsWith('trailers');
  const list = found.$case.endsWith('Headers')
    ? ((value.headers?.headers ?? []) as { key?: string; rawValue?: Buffer }[])
    : null;
  const modeOf = (number = 0): string => BODY_MODES[number] ?? 'none';
  return {
    phase,
    endOfStream: isTrailers || value.endOfStream === true,
    body: phase.endsWith('body') ? (value.body ?? Buffer.alloc(0)) : Buffer.alloc(0),
    headers:
      list === null
        ? null
        : Object.fromEntries(
            [...list].reverse().map(({ key = '', rawValue }) => [key, rawValue?.toString('latin1') ?? '']),
          ),
    observability: read.observabilityMode === true,
    attributes: read.attributes?.[FILTER] ?? null,
    metadata: read.metadataContext?.filterMetadata ?? null,
    protocol:
      config === undefined
        ? null
        : {
            requestBodyMode: modeOf(config.requestBodyMode),
            responseBodyMode: modeOf(config.responseBodyMode),
            sendsBodyUnasked: config.sendBodyWithoutWaitingForHeaderResponse === true,
          },
  };
}

function inTheSameWords(read: Incoming | null, names: readonly string[]) {
  if (read === null) return null;
  const { phase, endOfStream, body, head, observability, attributes, metadata, protocol } = read;
  const found = head === null ? null : Object.fromEntries(names.map((name) => [name, head.text(name)]));
  return { phase, endOfStream, body, headers: found, observability, attributes, metadata, protocol };
}

describe('a ProcessingRequest', () => {
  it('is read as the generated code reads it, in any order of fields, with unknown ones', () => {
    fc.assert(
      fc.property(wire, (bytes) => {
        const expected = byOracle(bytes);
        const read = inTheSameWords(readMessage(bytes), Object.keys(expected?.headers ?? {}));

        expect(read).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('with bytes changed or cut off never throws, and is whole in itself', () => {
    const mutated = fc.tuple(wire, fc.nat(), fc.nat(255), fc.nat()).map(([whole, at, value, length]) => {
      const bytes = Buffer.from(whole);
      if (bytes.length > 0) bytes[at % bytes.length] = value;
      return bytes.subarray(0, bytes.length - (length % 3));
    });
    fc.assert(
      fc.property(fc.oneof(mutated, bytes), (input) => {
        const read = readMessage(input);
        // Parts that are read when they are asked for do not throw either.
        void [read?.attributes, read?.metadata];
        expect(read === null || BODY_MODES.includes(read.protocol?.requestBodyMode ?? 'none')).toBe(true);
        expect(read === null || (read.head === null) !== read.phase.endsWith('headers')).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    { what: 'nothing', bytes: [] },
    { what: 'no kind', bytes: [0x50, 1] },
    { what: 'a length beyond the end', bytes: [0x12, 5, 0] },
    { what: 'a number without an end', bytes: [0x50, 0x80, 0x80] },
    { what: 'field 0', bytes: [0x12, 0, 0x02, 0] },
    { what: 'a group', bytes: [0x12, 0, 0x1b] },
    { what: 'broken headers', bytes: [0x12, 2, 0x0a, 9] },
    { what: 'a broken header', bytes: [0x12, 4, 0x0a, 2, 0x0a, 9] },
    { what: 'a broken body', bytes: [0x22, 2, 0x0a, 9] },
  ])('with $what is none', ({ bytes: given }) => {
    expect(readMessage(Buffer.from(given))).toBeNull();
  });

  it('gives its body as a range of its bytes', () => {
    const bytes = encode({ request: { $case: 'requestBody', value: { body: Buffer.alloc(100_000, 'x') } } });

    expect(readMessage(bytes)?.body.buffer).toBe(bytes.buffer);
  });

  it('of a header message tells its end beside its headers', () => {
    const bytes = encode({ request: { $case: 'requestHeaders', value: httpHeaders({ ':method': 'GET' }, true) } });
    const read = readMessage(bytes);

    expect([read?.endOfStream, read?.head?.endOfStream, read?.head?.method]).toEqual([true, true, 'GET']);
  });
});
