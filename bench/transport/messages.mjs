/** What an Envoy with the generated configuration sends for a chat request, as gRPC messages with their five bytes. */
import { chatBody, chatTail } from '../lib/bodies.mjs';
import { entry, field, framed, varint } from './protobuf.mjs';

const HEADERS = [
  [':authority', 'gateway.example.com'],
  [':path', '/v1/chat/completions'],
  [':method', 'POST'],
  [':scheme', 'http'],
  ['accept', 'application/json'],
  ['content-type', 'application/json'],
  ['user-agent', 'OpenAI/JS 5.0.0'],
  ['x-stainless-lang', 'js'],
  ['x-stainless-package-version', '5.0.0'],
  ['x-stainless-os', 'Linux'],
  ['x-stainless-arch', 'x64'],
  ['x-stainless-runtime', 'node'],
  ['accept-encoding', 'gzip, deflate'],
  ['x-forwarded-proto', 'http'],
  ['x-request-id', '4a5f0c6e-7f6e-4a3f-9d55-52b6c9d1f3aa'],
];
const ATTRIBUTES = { 'xds.route_name': 'all', 'source.address': '127.0.0.1:51234', 'request.protocol': 'HTTP/1.1' };

/** `ProcessingRequest.request_headers`, about 650 bytes with 16 headers. */
export function headersRequest(more) {
  const attributes = Object.entries(ATTRIBUTES).map(([name, value]) => entry(1, name, [field(3, value)]));
  return framed(
    Buffer.concat([
      field(2, [field(1, headerMap(more, 3))]),
      entry(9, 'envoy.filters.http.ext_proc', attributes),
      // protocol_config with the modes NONE, which are the default and take no bytes.
      field(11, ''),
    ]),
  );
}

/** `ProcessingRequest.request_body`, whole. */
export function bodyRequest(body) {
  return framed(field(4, [field(1, body), varint(2, 1)]));
}

/** A chat body with its `rid` as first member, or as last. */
export function ridBody(bytes, rid, last) {
  if (!last) return chatBody(bytes, rid);
  const end = `,"rid":${JSON.stringify(rid)}}`;
  const tail = chatTail(bytes - end.length);
  return Buffer.concat([Buffer.from('{'), tail.subarray(1, -1), Buffer.from(end)]);
}

/** `CheckRequest` with `encode_raw_headers`. */
export function checkRequest(more) {
  const http = [
    field(2, 'POST'),
    field(4, '/v1/chat/completions'),
    field(5, 'gateway.example.com'),
    field(10, 'HTTP/1.1'),
    field(13, headerMap(more, 3)),
  ];
  return framed(field(1, [field(4, [field(2, http)])]));
}

function headerMap(more, valueField) {
  return [...HEADERS, ...Object.entries(more)].map(([key, value]) =>
    field(1, [field(1, key), field(valueField, value)]),
  );
}

/** What the first message of an access-log stream begins with. */
export const IDENTIFIER = field(1, [
  field(1, [field(1, 'bench'), field(2, 'bench'), field(6, 'envoy')]),
  field(2, 'picker-attempts'),
]);

/** A `StreamAccessLogsMessage` with entries. */
export function logMessage(entries, identifier = Buffer.alloc(0)) {
  return framed(Buffer.concat([identifier, field(2, entries)]));
}

const entriesByLength = new Map();

/** A `log_entry` of a request that has ended, as field of its list: about 600 bytes. */
export function logEntry(pickId) {
  let template = entriesByLength.get(pickId.length);
  if (template === undefined) {
    const marks = '#'.repeat(pickId.length);
    const bytes = field(1, [
      field(1, commonProperties(marks)),
      field(3, requestProperties()),
      field(4, responseProperties()),
    ]);
    template = { bytes, at: bytes.indexOf(marks) };
    entriesByLength.set(pickId.length, template);
  }
  const bytes = Buffer.from(template.bytes);
  bytes.write(pickId, template.at, 'latin1');
  return bytes;
}

function commonProperties(pickId) {
  const socket = (port) => [field(1, [field(2, '127.0.0.1'), varint(3, port)])];
  const text = (value) => [field(3, value)];
  const duration = (nanos) => [varint(2, nanos)];
  const worker = 'http://127.0.0.1:8000';
  return [
    field(2, socket(51_234)),
    field(3, socket(8080)),
    field(5, [varint(1, 1_764_547_200), varint(2, 123_456_789)]),
    field(6, duration(100_000)),
    field(7, duration(400_000)),
    field(8, duration(500_000)),
    field(9, duration(900_000)),
    field(10, duration(910_000)),
    field(11, duration(990_000)),
    field(12, duration(1_000_000)),
    field(13, socket(8000)),
    field(14, socket(43_210)),
    field(15, 'workers'),
    field(17, [
      entry(1, 'envoy.lb', [entry(1, 'x-gateway-destination-endpoint', text('127.0.0.1:8000'))]),
      entry(1, 'picker', [
        entry(1, 'pick_id', text(pickId)),
        entry(1, 'served', text('127.0.0.1:8000')),
        entry(1, 'worker', text(worker)),
      ]),
    ]),
    field(19, 'all'),
    field(20, socket(51_234)),
    entry(22, 'worker', worker),
    field(23, duration(1_100_000)),
    varint(24, 1),
    field(26, '4a5f0c6e-7f6e-4a3f-9d55-52b6c9d1f3aa'),
    varint(30, 120),
    varint(31, 1500),
    varint(32, 500),
    varint(33, 6),
  ];
}

function requestProperties() {
  return [
    varint(1, 3),
    field(2, 'http'),
    field(3, 'gateway.example.com'),
    field(5, '/v1/chat/completions'),
    field(6, 'OpenAI/JS 5.0.0'),
    field(9, '4a5f0c6e-7f6e-4a3f-9d55-52b6c9d1f3aa'),
    varint(11, 420),
    varint(12, 1024),
  ];
}

function responseProperties() {
  return [field(1, [varint(1, 200)]), varint(2, 180), varint(3, 500), field(6, 'via_upstream')];
}

const PICK_ID = Buffer.from('pick_id');

/** The pick id in the dynamic metadata of an answer; empty when there is none. */
export function pickIdOf(answer) {
  const at = answer.indexOf(PICK_ID);
  if (at < 0) return '';
  // Key, then a Value: its length, a string, the string's length; all of them short.
  const value = at + PICK_ID.length;
  const length = answer[value + 3];
  return answer.toString('latin1', value + 4, value + 4 + length);
}
