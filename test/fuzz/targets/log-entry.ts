import { LogEntry } from '../../../src/envoy/access-log/log-entry.ts';
import type { Metadata } from '../../../src/gen/envoy/config/core/v3/base.ts';
import { HTTPAccessLogEntry as Generated } from '../../../src/gen/envoy/data/accesslog/v3/accesslog.ts';
import { ByteSink } from '../lib/byte-sink.ts';
import { same } from '../lib/expect.ts';
import type { Random } from '../lib/random.ts';
import type { Target } from '../lib/target.ts';
import { fieldsOf } from '../oracles/wire.ts';
import { ProtoGrammar, type Schema } from './proto-grammar.ts';

const TIME: Schema = [
  { number: 1, of: 'number' },
  { number: 2, of: 'number' },
];
const TEXT_VALUE: Schema = [{ number: 3, of: ['p-1', '', '7', '12345', '10.0.0.1:80'], odds: 8 }];
const STRUCT: Schema = [
  {
    number: 1,
    most: 4,
    odds: 9,
    of: [
      { number: 1, of: ['pick_id', 'served', 'rank', 'x-gateway-destination-endpoint-served', 'x'], odds: 9 },
      { number: 2, of: TEXT_VALUE, odds: 9 },
    ],
  },
];
const METADATA: Schema = [
  {
    number: 1,
    most: 4,
    odds: 9,
    of: [
      { number: 1, of: ['picker', 'envoy.lb', 'envoy.filters.http.ext_authz', 'x'], odds: 9 },
      { number: 2, of: STRUCT, odds: 9 },
    ],
  },
  {
    number: 2,
    most: 2,
    odds: 1,
    of: [
      { number: 1, of: ['typed'] },
      { number: 2, of: [{ number: 2, of: 'bytes' }] },
    ],
  },
];
const PAIR: Schema = [
  { number: 1, of: ['worker', 'x-smg-routed-worker', 'x'], odds: 9 },
  { number: 2, of: ['w-1', 'w@3', ''], odds: 9 },
];
const ADDRESS: Schema = [
  {
    number: 1,
    odds: 9,
    of: [
      { number: 2, of: ['10.0.0.1', '::1', ''] },
      { number: 3, of: 'number' },
    ],
  },
  { number: 2, odds: 1, of: [{ number: 1, of: ['/pipe'] }] },
];
const FLAGS: Schema = [3, 5, 6, 7, 15, 16, 24, 28].map((number) => ({ number, of: 'number' as const, odds: 2 }));
const COMMON: Schema = [
  { number: 5, of: TIME },
  { number: 9, of: TIME },
  { number: 12, of: TIME },
  { number: 13, of: ADDRESS },
  { number: 16, of: FLAGS },
  { number: 17, of: METADATA, odds: 9 },
  { number: 22, of: PAIR, most: 3 },
  { number: 23, of: TIME, odds: 4 },
  { number: 24, of: [{ number: 1, of: 'number' }], odds: 1 },
  { number: 33, of: 'number' },
];
const RESPONSE: Schema = [
  { number: 1, of: [{ number: 1, of: 'number' }] },
  { number: 4, of: PAIR, most: 3 },
  { number: 6, of: ['via_upstream', 'http2.remote_reset', ''] },
];
const ENTRY: Schema = [
  { number: 1, of: COMMON, odds: 9 },
  {
    number: 3,
    odds: 2,
    of: [
      { number: 5, of: ['/v1/completions'] },
      { number: 9, of: ['id'] },
    ],
  },
  { number: 4, of: RESPONSE },
];

/** The reader of access log entries against the generated code. */
export function logEntryTarget(): Target {
  const sink = new ByteSink();
  const counts = { accepted: 0, refused: 0, compared: 0 };
  const entry = new LogEntry();
  return {
    name: 'log-entry',
    sources: ['/src/envoy/access-log/log-entry', '/src/envoy/wire/wire-reader'],
    tokens: TOKENS,
    slowMs: 30,
    counts: () => counts,
    generate(random: Random): Buffer {
      new ProtoGrammar(sink.clear(), random).message(ENTRY);
      return sink.done();
    },
    check(input: Buffer): void {
      const accepted = entry.read(input, 0, input.length);
      if (accepted) counts.accepted++;
      else counts.refused++;
      if (fieldsOf(input) === null) same('bytes that are no message', accepted, false);
      // What was read of a broken entry is there for nobody, but does not throw.
      const end = entry.end(false);
      entry.attempt();
      if (!isPlain(input, ENTRY)) return;
      const generated = generatedOf(input);
      if (generated === null) return;
      counts.compared++;
      same('accepted', accepted, true);
      const { commonProperties: common, response } = generated;
      same('code details', end.codeDetails, response?.responseCodeDetails ?? '');
      same('worker', end.workerId, common?.customTags?.['worker'] ?? '');
      same('pick id', end.pickId, pickIdOf(common?.metadata));
      // Of a flag that stands twice ours takes either.
      if (common?.responseFlags?.upstreamRetryLimitExceeded === true) same('retries used up', end.retriesUsedUp, true);
    },
  };
}

function pickIdOf(metadata: Metadata | undefined): string {
  return textOf(metadata, 'picker') || textOf(metadata, 'envoy.filters.http.ext_authz');
}

function textOf(metadata: Metadata | undefined, namespace: string): string {
  const value: unknown = metadata?.filterMetadata?.[namespace]?.['pick_id'];
  return typeof value === 'string' ? value : '';
}

/** Whole in all its parts, none of which stands twice or is an entry without key or value: there the generated code differs. */
function isPlain(bytes: Buffer, schema: Schema): boolean {
  const fields = fieldsOf(bytes);
  if (fields === null) return false;
  // Of a value of two kinds the last one counts; ours takes the text.
  if (schema === TEXT_VALUE && bytes.length > 0 && bytes.length !== (fields[0]?.content.length ?? 0) + 2) return false;
  const seen = new Set<string>();
  return fields.every(({ number, content }) => {
    const field = schema.find((each) => each.number === number);
    if (field === undefined || typeof field.of !== 'object') return true;
    const isList = field.most !== undefined;
    const isPair = schema === PAIR || field.of === PAIR || field.of === STRUCT;
    const name = isList ? fieldsOf(content)?.find((each) => each.number === 1)?.content : undefined;
    const key = `${number}${name?.toString('latin1') ?? ''}`;
    if (seen.has(key)) return false;
    seen.add(key);
    if (typeof field.of[0] !== 'object') return true;
    if (isList && isPair && new Set(fieldsOf(content)?.map((each) => each.number)).size < 2) return false;
    return isPlain(content, field.of as Schema);
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
  '0a',
  '22',
  '8a01',
  '820108',
  'b20106',
  '0a06776f726b6572',
  '1204',
  '08',
  '18',
  '28',
  'c00101',
  '880206',
].map((hex) => Buffer.from(hex, 'hex'));
