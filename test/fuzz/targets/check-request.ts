import { isUtf8 } from 'node:buffer';
import { CheckRequest } from '../../../src/envoy/ext-authz/check-request.ts';
import { CheckRequest as Generated } from '../../../src/gen/envoy/service/auth/v3/external_auth.ts';
import { ByteSink } from '../lib/byte-sink.ts';
import { alike, fail, same } from '../lib/expect.ts';
import type { Random } from '../lib/random.ts';
import type { Target } from '../lib/target.ts';
import { fieldsOf } from '../oracles/wire.ts';
import { ProtoGrammar, type Schema } from './proto-grammar.ts';

const NAMES = [
  'x-smg-routing-key',
  'x-smg-target-worker',
  'cookie',
  'content-length',
  'x-a',
  'x-ab',
  '',
  'host',
  'transfer-encoding',
];
const HEADER: Schema = [
  { number: 1, of: [...NAMES, 'x-envoy-auth-partial-body'], odds: 9 },
  { number: 2, of: ['true', 'false', '0', 'abc', '', 'ü'] },
  { number: 3, of: 'bytes', odds: 5 },
];
const HTTP: Schema = [
  { number: 1, of: ['id'] },
  { number: 2, of: ['POST', 'GET', 'CONNECT', '', 'PÖST'] },
  { number: 3, of: HEADER, most: 6, odds: 3 },
  { number: 13, of: [{ number: 1, of: HEADER, most: 12, odds: 10 }] },
  { number: 4, of: ['/v1/chat/completions', '/generate?a=b', '', '/ü'], odds: 8 },
  { number: 5, of: ['fleet.test', ''], odds: 4 },
  { number: 9, of: 'number' },
  { number: 10, of: ['HTTP/1.1', 'HTTP/2', ''] },
  { number: 11, of: ['{"rid":"a"}', ''], odds: 3 },
  { number: 12, of: 'bytes', odds: 4 },
];
const CHECK: Schema = [
  {
    number: 1,
    odds: 10,
    of: [
      { number: 1, of: 'bytes', odds: 2 },
      {
        number: 4,
        odds: 10,
        of: [
          { number: 1, of: 'bytes', odds: 2 },
          { number: 2, odds: 10, of: HTTP },
        ],
      },
    ],
  },
];

interface Http {
  readonly headers: [name: Buffer, value: Buffer][];
  readonly single: Map<number, Buffer>;
  body: Buffer;
}

/** The reader of ext_authz requests against the generated code, and against a plain reader where the two differ on purpose. */
export function checkRequestTarget(): Target {
  const sink = new ByteSink();
  const counts = { accepted: 0, broken: 0, generatedDiffers: 0 };
  return {
    name: 'check-request',
    sources: ['/src/envoy/ext-authz/check-request', '/src/envoy/ext-authz/wire-reader', '/src/envoy/wire/'],
    tokens: TOKENS,
    slowMs: 30,
    counts: () => counts,
    generate(random: Random): Buffer {
      new ProtoGrammar(sink.clear(), random).message(CHECK);
      return sink.done();
    },
    check(input: Buffer): void {
      const request = CheckRequest.read(input);
      const http: Http = { headers: [], single: new Map(), body: Buffer.alloc(0) };
      const readable = readHttp(input, [1, 4, 2], http);
      same('accepted', request !== null, readable);
      const generated = generatedOf(input);
      if (request === null) {
        counts.broken++;
        return;
      }
      counts.accepted++;
      checkHeaders(request, http);
      same('method', request.method, (http.single.get(2) ?? Buffer.alloc(0)).toString('latin1'));
      same('path', request.path, (http.single.get(4) ?? Buffer.alloc(0)).toString('latin1'));
      alike('body', request.body?.bytes ?? Buffer.alloc(0), http.body);
      if (typeof request.endOfStream !== 'boolean') fail('whether a body follows');
      const names = request.present(new Set(['cookie', 'x-a']), 'x-smg-');
      same('each name once', new Set(names).size, names.length);
      if (generated === null) counts.generatedDiffers++;
      else checkGenerated(request, generated);
    },
  };
}

/** What protobuf means by a message that stands twice: its fields are merged. */
function readHttp(bytes: Buffer, way: readonly number[], http: Http): boolean {
  const fields = fieldsOf(bytes);
  if (fields === null) return false;
  for (const { number, content } of fields) {
    if (way.length > 0) {
      if (number === way[0] && !readHttp(content, way.slice(1), http)) return false;
    } else if (number === 3) {
      if (!readHeader(content, http)) return false;
    } else if (number === 13) {
      const list = fieldsOf(content);
      if (list === null) return false;
      for (const each of list) if (each.number === 1 && !readHeader(each.content, http)) return false;
    } else if (number === 11 || number === 12) {
      if (content.length > 0) http.body = content;
    } else http.single.set(number, content);
  }
  return true;
}

function readHeader(bytes: Buffer, http: Http): boolean {
  let name: Buffer = Buffer.alloc(0);
  let value: Buffer = Buffer.alloc(0);
  let raw: Buffer = Buffer.alloc(0);
  const fields = fieldsOf(bytes);
  for (const { number, content } of fields ?? []) {
    if (number === 1) name = content;
    else if (number === 3 && content.length > 0) raw = content;
    else if (number === 2) value = content;
  }
  http.headers.push([name, raw.length > 0 ? raw : value]);
  return fields !== null;
}

function checkHeaders(request: CheckRequest, http: Http): void {
  for (const name of NAMES) {
    const found = http.headers.find(([key]) => key.toString('latin1') === name)?.[1];
    const host = http.single.get(5);
    const wanted = found ?? (name === 'host' && host !== undefined && host.length > 0 ? host : undefined);
    alike('the first header of a name', request.first(name), wanted);
  }
}

function generatedOf(input: Buffer): Generated | null {
  try {
    return Generated.decode(input);
  } catch {
    return null;
  }
}

/** Where nothing stands twice, which the generated code does not merge. */
function checkGenerated(request: CheckRequest, generated: Generated): void {
  const http = generated.attributes?.request?.http;
  if (http === undefined || Object.keys(http.headers ?? {}).length > 0 || !isUtf8(Buffer.from(request.path, 'latin1')))
    return;
  const { headerMap, rawBody, body } = http;
  if (headerMap === undefined || headerMap.headers === undefined) return;
  const raw = headerMap.headers.find(({ key }) => key === 'x-a');
  if (raw === undefined) return;
  const mine = request.first('x-a');
  if (mine === undefined) fail('a header that the generated code finds');
  if (rawBody !== undefined && rawBody.length > 0 && (body ?? '') === '' && request.body === null) fail('a body');
}

const TOKENS = [
  '0a',
  '22',
  '12',
  '1a',
  '6a',
  '0a00',
  '0a01',
  '0a80808080808080808001',
  '0b',
  '0c',
  '08ffffffffffffffffff01',
  '0d00000000',
  '090000000000000000',
  '00',
  '07',
  '0aff',
  '62',
  '5a',
].map((hex) => Buffer.from(hex, 'hex'));
