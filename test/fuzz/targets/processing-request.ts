import { readMessage } from '../../../src/envoy/ext-proc/read-message.ts';
import { ProcessingRequest as Generated } from '../../../src/gen/envoy/service/ext_proc/v3/external_processor.ts';
import { ByteSink } from '../lib/byte-sink.ts';
import { alike, fail, same } from '../lib/expect.ts';
import type { Random } from '../lib/random.ts';
import type { Target } from '../lib/target.ts';
import { fieldsOf } from '../oracles/wire.ts';
import { type Field, ProtoGrammar, type Schema } from './proto-grammar.ts';

const FILTER = 'envoy.filters.http.ext_proc';
const NAMES = [':method', ':path', ':authority', 'host', 'x-smg-routing-key', 'cookie', '', 'x-a'];
const HEADER: Schema = [
  { number: 1, of: NAMES, odds: 9 },
  { number: 2, of: ['a', ''], odds: 2 },
  { number: 3, of: 'bytes', odds: 8 },
];
const MAP: Schema = [{ number: 1, of: HEADER, most: 10, odds: 10 }];
const HEADERS: Schema = [
  { number: 1, of: MAP, odds: 10 },
  { number: 3, of: 'number' },
];
const BODY: Schema = [
  { number: 1, of: 'bytes' },
  { number: 2, of: 'number' },
];
const TRAILERS: Schema = [{ number: 1, of: MAP }];
const LEAF: Schema = [
  { number: 3, of: ['text', '', 'ü'], odds: 5 },
  { number: 4, of: 'number', odds: 3 },
  { number: 1, of: 'number', odds: 2 },
];
const VALUE: Field[] = [...LEAF];
VALUE.push(
  {
    number: 5,
    odds: 1,
    of: [
      {
        number: 1,
        most: 3,
        of: [
          { number: 1, of: ['a', 'b'] },
          { number: 2, of: VALUE },
        ],
      },
    ],
  },
  { number: 6, odds: 1, of: [{ number: 1, most: 3, of: VALUE }] },
);
const STRUCT: Schema = [
  {
    number: 1,
    most: 4,
    odds: 9,
    of: [
      { number: 1, of: ['xds.route_name', 'a', ''] },
      { number: 2, of: VALUE },
    ],
  },
];
const ANY: Schema = [
  { number: 1, of: ['type.googleapis.com/a'] },
  { number: 2, of: 'bytes' },
];
const PROTOCOL: Schema = [1, 2, 3].map((number) => ({ number, of: 'number' as const }));
const MESSAGE: Schema = [
  { number: 2, of: HEADERS, odds: 6 },
  { number: 3, of: HEADERS, odds: 1 },
  { number: 4, of: BODY, odds: 3 },
  { number: 5, of: BODY, odds: 1 },
  { number: 6, of: TRAILERS, odds: 1 },
  { number: 7, of: TRAILERS, odds: 1 },
  {
    number: 8,
    odds: 3,
    of: [
      {
        number: 1,
        most: 3,
        of: [
          { number: 1, of: ['envoy.lb', 'x', ''] },
          { number: 2, of: STRUCT },
        ],
      },
      {
        number: 2,
        most: 2,
        odds: 1,
        of: [
          { number: 1, of: ['typed'] },
          { number: 2, of: ANY },
        ],
      },
    ],
  },
  {
    number: 9,
    most: 3,
    odds: 4,
    of: [
      { number: 1, of: [FILTER, 'other'] },
      { number: 2, of: STRUCT },
    ],
  },
  { number: 10, of: 'number', odds: 2 },
  { number: 11, of: PROTOCOL, odds: 5 },
];

/** The reader of ext_proc messages against the generated code. */
export function processingRequestTarget(): Target {
  const sink = new ByteSink();
  const counts = { accepted: 0, refused: 0, compared: 0 };
  return {
    name: 'processing-request',
    sources: ['/src/envoy/ext-proc/read-message', '/src/envoy/wire/'],
    tokens: TOKENS,
    slowMs: 30,
    counts: () => counts,
    generate(random: Random): Buffer {
      new ProtoGrammar(sink.clear(), random).message(MESSAGE);
      return sink.done();
    },
    check(input: Buffer): void {
      const read = readMessage(input);
      if (read === null) counts.refused++;
      else counts.accepted++;
      // What is only read when it is asked for does not throw either.
      const attributes = read?.attributes ?? null;
      const metadata = read?.metadata ?? null;
      if (fieldsOf(input) === null) same('bytes that are no message', read, null);
      if (!isWhole(input, MESSAGE)) return;
      const generated = generatedOf(input);
      if (generated === null) return;
      counts.compared++;
      const { request } = generated;
      if (request === undefined) {
        same('a message without a kind', read, null);
        return;
      }
      if (read === null) fail('refused what the generated code takes', input);
      same('kind', read.phase.replaceAll('_', ''), request.$case.toLowerCase());
      same('observability', read.observability, generated.observabilityMode === true);
      same('attributes', attributes !== null, generated.attributes?.[FILTER] !== undefined);
      same('metadata', metadata !== null, generated.metadataContext !== undefined);
      same('protocol', read.protocol !== null, generated.protocolConfig !== undefined);
      if (!hasHoles(attributes)) alike('attributes', namesOf(attributes), namesOf(generated.attributes?.[FILTER]));
      if (!hasHoles(metadata)) {
        alike('namespaces', namesOf(metadata), namesOf(generated.metadataContext?.filterMetadata));
      }
      if (request.$case === 'requestBody' || request.$case === 'responseBody') {
        alike('body', read.body, request.value.body ?? Buffer.alloc(0));
        same('end', read.endOfStream, request.value.endOfStream === true);
      }
      if (request.$case === 'requestHeaders' || request.$case === 'responseHeaders') {
        same('end', read.endOfStream, request.value.endOfStream === true);
        for (const name of NAMES) {
          const found = request.value.headers?.headers?.find(({ key }) => (key ?? '') === name);
          if (found?.rawValue !== undefined && found.rawValue.length > 0) {
            same('a header', read.head?.text(name), found.rawValue.toString('latin1'));
          } else if (found === undefined) same('no header', read.head?.text(name), undefined);
        }
      }
    },
  };
}

function namesOf(fields: Readonly<Record<string, unknown>> | null | undefined): string[] {
  return Object.keys(fields ?? {}).sort();
}

/** An entry without a value: to protobuf it has an empty one, the generated code leaves it out. */
function hasHoles(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined;
  const inside = Object.values(value);
  return inside.some(hasHoles) || (!Array.isArray(value) && inside.length === 0);
}

/** Every message inside that is known, too. */
function isWhole(bytes: Buffer, schema: Schema): boolean {
  const fields = fieldsOf(bytes);
  if (fields === null) return false;
  return fields.every(({ number, content }) => {
    const of = schema.find((field) => field.number === number)?.of;
    return typeof of !== 'object' || typeof of[0] !== 'object' || isWhole(content, of as Schema);
  });
}

function generatedOf(input: Buffer): Generated | null {
  try {
    return Generated.decode(input);
  } catch {
    return null;
  }
}

const TOKENS = [
  '12',
  '1a',
  '22',
  '2a',
  '32',
  '3a',
  '42',
  '4a',
  '5001',
  '5a',
  '5a00',
  '0a',
  '1801',
  '1001',
  '0b',
  '0c',
  '08ffffffffffffffffff01',
  '110000000000000000',
  '00',
  '0aff',
].map((hex) => Buffer.from(hex, 'hex'));
