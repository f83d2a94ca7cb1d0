import { once } from 'node:events';
import { connect, createServer, type OutgoingHttpHeaders, type ServerHttp2Stream, sensitiveHeaders } from 'node:http2';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
  connect as tcpConnect,
} from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { BROKEN_BLOCKS, ODD_BLOCKS } from './broken-blocks.suite.ts';
import { HpackDecoder } from './decoder.ts';
import { type LiteralForm, PlannedEncoder } from './encoder.suite.ts';
import { indexedStatus200 } from './literals.ts';
import { type RawFrame, RawFrames, rawFrame } from './raw-frames.suite.ts';

/** The HPACK of nghttp2, which `node:http2` has inside, as the other side. */

type Field = readonly [name: string, value: string];

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const NONE = Buffer.alloc(0);
const HEADERS = 1;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const ACK = 1;
const END_STREAM_AND_HEADERS = 5;
const PRIORITY = 0x20;
const PRIORITY_BYTES = 5;
const HEADER_TABLE_SIZE = 1;
const COMPRESSION_ERROR = 9;

const owned: (() => void)[] = [];
afterEach(() => {
  for (const close of owned.splice(0).reverse()) close();
});

const PSEUDO: readonly Field[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/envoy.service.ext_proc.v3.ExternalProcessor/Process'],
  [':authority', 'picker.local'],
];
const NAMES = [
  'content-type',
  'user-agent',
  'x-request-id',
  'x-envoy-internal',
  'grpc-timeout',
  'traceparent',
  'cookie',
];
/** What a client may send: no white space at the ends, visible or above ASCII. */
const value = fc.oneof(
  fc.constantFrom('', 'application/grpc', 'true', '5000m', 'v'.repeat(300)),
  fc
    .array(fc.oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff })), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units)),
);
/** Regular fields of one request, each name once. */
const fields: fc.Arbitrary<Field[]> = fc
  .dictionary(fc.oneof(fc.constantFrom(...NAMES), fc.stringMatching(/^x-[a-z0-9!#$%&'*+.^_`|~-]{1,12}$/)), value, {
    maxKeys: 12,
  })
  .map((each) => Object.entries(each));
const samples = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { numRuns: count, seed: 7541 });

describe('reads what nghttp2 writes over hundreds of requests of one connection', () => {
  it.each([
    { what: 'with the table that everybody has', announced: 4096, used: 4096 },
    { what: 'without a table', announced: 0, used: 4096 },
    { what: 'with a small table', announced: 200, used: 4096 },
    { what: 'with a table that it makes smaller itself', announced: 4096, used: 500 },
    { what: 'with a large table', announced: 65_536, used: 65_536 },
  ])('$what', async ({ announced, used }) => {
    const blocks: Buffer[] = [];
    const port = await tcpServer((socket) => {
      const setting = Buffer.alloc(6);
      setting.writeUInt16BE(HEADER_TABLE_SIZE, 0);
      setting.writeUInt32BE(announced, 2);
      socket.write(rawFrame(SETTINGS, 0, 0, setting));
      onFrames(socket, PREFACE.length, (frame) => {
        if (frame.type === SETTINGS && frame.flags !== ACK) socket.write(rawFrame(SETTINGS, ACK, 0, NONE));
        if (frame.type !== HEADERS) return;
        blocks.push((frame.flags & PRIORITY) === 0 ? frame.payload : frame.payload.subarray(PRIORITY_BYTES));
        socket.write(rawFrame(HEADERS, END_STREAM_AND_HEADERS, frame.streamId, indexedStatus200));
      });
    });
    const client = connect(`http://127.0.0.1:${port}`, { maxDeflateDynamicTableSize: used });
    owned.push(() => client.destroy());
    await once(client, 'remoteSettings');
    const requests = samples(fc.tuple(fields, fc.boolean()), 300);

    for (const [regular, secret] of requests) {
      const headers: OutgoingHttpHeaders = Object.fromEntries([...PSEUDO, ...regular]);
      if (secret) Object.assign(headers, { [sensitiveHeaders]: regular.slice(0, 2).map(([name]) => name) });
      const stream = client.request(headers, { endStream: true });
      stream.resume();
      await once(stream, 'close');
    }

    const decoder = new HpackDecoder(announced);
    const expected = requests.map(([regular]) => [...PSEUDO, ...regular]);
    expect(blocks.map((block) => read(decoder, block))).toEqual(expected);
  });
});

describe('nghttp2 judges alike', () => {
  it.each(BROKEN_BLOCKS)('no block: $what (RFC 7541 $section)', async ({ block }) => {
    const peer = await rawClient();

    expect(await peer.verdict(block)).toBe(COMPRESSION_ERROR);
  });

  it.each(ODD_BLOCKS)('a block: $what (RFC 7541 $section)', async ({ block }) => {
    const peer = await rawClient();

    expect(await peer.verdict(block)).toBe('taken');
  });
});

it('nghttp2 reads what the encoder of these tests writes', async () => {
  const form = fc.constantFrom<LiteralForm>('indexed', 'not-indexed', 'never-indexed');
  const how = fc.record({ byIndex: fc.boolean(), form, huffmanName: fc.boolean(), huffmanValue: fc.boolean() });
  const sizes = fc.oneof(fc.constant([]), fc.array(fc.nat(4096), { maxLength: 2 }));
  const requests = samples(fc.tuple(fields, fc.array(how, { minLength: 20, maxLength: 20 }), sizes), 200);
  const heard: Field[][] = [];
  const peer = await rawClient((list) => heard.push(list));
  const encoder = new PlannedEncoder(4096);

  const expected = requests.map(([regular]) => [...PSEUDO, ...regular]);
  for (const [i, list] of expected.entries()) {
    const [, plans, updates] = requests[i]!;
    const planned = list.map(([name, text], at) => ({ name, value: text, ...plans[at]! }));
    expect(await peer.verdict(encoder.block(planned, updates))).toBe('taken');
  }

  expect(heard).toEqual(expected);
});

function read(decoder: HpackDecoder, block: Buffer): Field[] | null {
  const found: Field[] = [];
  const whole = decoder.decode(block, 0, block.length, { field: (name, text) => found.push([name, text]) });
  return whole ? found : null;
}

async function tcpServer(accept: (socket: Socket) => void): Promise<number> {
  return listen(
    createTcpServer((socket) => {
      owned.push(() => socket.destroy());
      accept(socket);
    }),
  );
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  owned.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

function onFrames(socket: Socket, before: number, take: (frame: RawFrame) => void): void {
  const frames = new RawFrames(before);
  socket.on('error', () => {});
  socket.on('data', (piece: Buffer) => {
    for (const frame of frames.add(piece)) take(frame);
  });
}

interface RawClient {
  /** Sends a block as a request, and a PING behind it; the error of the connection, if it came to one. */
  verdict(block: Buffer): Promise<number | 'taken'>;
}

/** A client that writes frames itself, before a server of `node:http2`. */
async function rawClient(heard: (fields: Field[]) => void = () => {}): Promise<RawClient> {
  const server = createServer();
  server.on('sessionError', () => {});
  server.on('stream', (stream: ServerHttp2Stream, _headers: unknown, _flags: unknown, rawHeaders: string[]) => {
    stream.on('error', () => {});
    heard(rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : [])));
    stream.respond({ ':status': 200 }, { endStream: true });
  });
  const socket = tcpConnect(await listen(server), '127.0.0.1');
  owned.push(() => socket.destroy());
  let verdict: (found: number | 'taken') => void = () => {};
  onFrames(socket, 0, ({ type, flags, payload }) => {
    if (type === GOAWAY) verdict(payload.readUInt32BE(4));
    if (type === PING && flags === ACK) verdict('taken');
  });
  socket.write(Buffer.concat([PREFACE, rawFrame(SETTINGS, 0, 0, NONE)]));
  let streamId = -1;
  return {
    verdict(block) {
      streamId += 2;
      const sent = Buffer.concat([
        rawFrame(HEADERS, END_STREAM_AND_HEADERS, streamId, block),
        rawFrame(PING, 0, 0, Buffer.alloc(8)),
      ]);
      return new Promise((resolve) => {
        verdict = resolve;
        socket.write(sent);
      });
    },
  };
}
