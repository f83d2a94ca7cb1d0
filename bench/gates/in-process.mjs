/**
 * What can be counted rather than timed: `node --expose-gc --min-semi-space-size=64 bench/gates/in-process.mjs` prints, as JSON,
 * what a request with a header key allocates through the whole stack, from the bytes of a socket to those of the answer, how much
 * of a body is copied, what memory a long body takes, and how many writes answer a piece that was read.
 */

import { median } from '../lib/stats.mjs';
import { createWorld } from '../micro/world.mjs';
import { HpackEncoder } from '../transport/hpack.mjs';
import { bodyRequest, headersRequest, ridBody } from '../transport/messages.mjs';
import { copiesOf } from './copies.mjs';
import { FakeSocket } from './fake-socket.mjs';

const { Connection } = await import('../../dist/transport/http2/connection.js');
const { DEFAULT_LIMITS } = await import('../../dist/transport/http2/limits.js');

const { MessageMemory } = await import('../../dist/transport/http2/message-memory.js');

const REQUESTS = 400;
const WARM_UP = 50;
const ROUNDS = 9;
const LONG_BODY_BYTES = 220 * 1024;
const SHORT_BODY_BYTES = 12 * 1024;
const FRAME_BYTES = 16_384;
/** What one read of a socket brings at most. */
const PIECE_BYTES = 65_536;
const ABREAST = 32;

const FIELDS = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/envoy.service.ext_proc.v3.ExternalProcessor/Process'],
  [':authority', 'picker'],
  ['te', 'trailers'],
  ['content-type', 'application/grpc'],
];
const OVERRIDE = { SMG_POLICY: 'round_robin', SMG_ROUTING_KEY_OVERRIDE: 'true', SMG_ROUTING_KEY_ORDER: 'header-first' };

const world = createWorld(30, OVERRIDE);
const failed = (error) => {
  throw error instanceof Error ? error : new Error(String(error));
};
const observer = {
  handlerFailed: (_, error) => failed(error),
  limitReached: failed,
  callOpened: () => undefined,
  callClosed: () => undefined,
  resetReceived: () => undefined,
  goAwaySent: () => failed('GOAWAY'),
  broke: failed,
};
const socket = new FakeSocket();
const parts = {
  methods: new Map([[world.extProc.path, world.extProc]]),
  limits: DEFAULT_LIMITS,
  maxMessageBytes: 1 << 26,
  memory: new MessageMemory(),
  observer,
};
const connection = new Connection(socket, parts, 0);
const encoder = new HpackEncoder();
let nextId = 1;

const read = (piece) => connection.read(piece, 0);
read(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.alloc(0))]));

const messages = Array.from({ length: REQUESTS }, (_, i) => headersRequest({ 'x-smg-routing-key': `known-${i}` }));
for (let round = 0; round < WARM_UP; round++) playAll(piecesOfAll());
const results = {
  ...allocated(),
  ...written(),
  // Over many frames, and in one.
  long: copied(LONG_BODY_BYTES),
  short: copied(SHORT_BODY_BYTES),
};
process.stdout.write(`${JSON.stringify(results)}\n`);
process.exit();

function allocated() {
  const heap = [];
  const buffers = [];
  for (let round = 0; round < ROUNDS; round++) {
    const pieces = piecesOfAll();
    globalThis.gc();
    const before = process.memoryUsage();
    playAll(pieces);
    const after = process.memoryUsage();
    heap.push((after.heapUsed - before.heapUsed) / REQUESTS);
    buffers.push((after.arrayBuffers - before.arrayBuffers) / REQUESTS);
    world.endAll();
  }
  return { heapBytes: Math.round(median(heap)), bufferBytes: Math.round(median(buffers)) };
}

function written() {
  const piece = Buffer.concat(messages.slice(0, ABREAST).map((message) => requestOf(message).first));
  const before = socket.writes;
  read(piece);
  world.endAll();
  return { writes: socket.writes - before, answered: ABREAST };
}

/** Bytes that are copied of a request whose `rid` is the last member of its body, once the service has been through some. */
function copied(bodyBytes) {
  for (let i = 0; i < 3; i++) for (const piece of piecesOf(bodyBytes)) read(piece);
  const pieces = piecesOf(bodyBytes);
  const copies = copiesOf(() => {
    for (const piece of pieces) read(piece);
  });
  world.endAll();
  return { bodyBytes, copied: copies.reduce((sum, size) => sum + size, 0), bufferBytes: buffersOf(bodyBytes) };
}

/** Memory outside of V8's heap that a request with such a body takes anew. */
function buffersOf(bodyBytes) {
  const requests = Array.from({ length: 20 }, () => piecesOf(bodyBytes));
  globalThis.gc();
  const before = process.memoryUsage().arrayBuffers;
  for (const pieces of requests) for (const piece of pieces) read(piece);
  const taken = process.memoryUsage().arrayBuffers - before;
  world.endAll();
  return Math.round(taken / requests.length);
}

/** The question by the headers, and the body in DATA frames as the reads of a socket bring them. */
function piecesOf(bodyBytes) {
  const { id, first, last } = requestOf(headersRequest({}));
  const body = bodyRequest(ridBody(bodyBytes, 'known-1_t2', true));
  const frames = [];
  for (let at = 0; at < body.length; at += FRAME_BYTES) {
    frames.push(frame(0, 0, id, body.subarray(at, at + FRAME_BYTES)));
  }
  const bytes = Buffer.concat([...frames, last]);
  const pieces = [first];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) pieces.push(bytes.subarray(at, at + PIECE_BYTES));
  return pieces;
}

/** What a socket brings for each of some requests: the question, then the half-close. */
function piecesOfAll() {
  return messages.map(requestOf);
}

function playAll(requests) {
  for (const { first, last } of requests) {
    read(first);
    read(last);
  }
  world.endAll();
}

function requestOf(message) {
  const id = nextId;
  nextId += 2;
  const first = Buffer.concat([frame(1, 4, id, encoder.block(FIELDS, '')), frame(0, 0, id, message)]);
  return { id, first, last: frame(0, 1, id, Buffer.alloc(0)) };
}

function frame(type, flags, id, payload) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}
