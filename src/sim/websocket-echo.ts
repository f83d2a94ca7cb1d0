import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** RFC 6455 1.3: what a server mixes into its proof. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const OPCODE_CLOSE = 8;
const OPCODE_PING = 9;
const OPCODE_PONG = 10;
const MAX_FRAME_BYTES = 1024 * 1024;

/**
 * Accepts an upgrade and echoes: frame by frame where the client speaks WebSocket (RFC 6455), byte by byte otherwise.
 * `worker` goes into the handshake as `x-sim-worker`.
 */
export function acceptEcho(request: IncomingMessage, socket: Duplex, head: Buffer, worker: string): void {
  const key = request.headers['sec-websocket-key'];
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    `upgrade: ${request.headers.upgrade}`,
    'connection: upgrade',
    `x-sim-worker: ${worker}`,
  ];
  if (key !== undefined)
    lines.push(
      `sec-websocket-accept: ${createHash('sha1')
        .update(key + GUID)
        .digest('base64')}`,
    );
  socket.on('error', () => socket.destroy());
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  if (key === undefined) socket.pipe(socket);
  else echoFrames(socket);
}

function echoFrames(socket: Duplex): void {
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (let frame = readFrame(pending); frame !== undefined; frame = readFrame(pending)) {
      pending = pending.subarray(frame.end);
      if (frame.payload.length > MAX_FRAME_BYTES) return void socket.destroy();
      const opcode = frame.first & 0x0f;
      if (opcode === OPCODE_CLOSE) return void socket.end(writeFrame(frame.first, frame.payload));
      if (opcode !== OPCODE_PONG) {
        socket.write(writeFrame(opcode === OPCODE_PING ? 0x80 | OPCODE_PONG : frame.first, frame.payload));
      }
    }
    if (pending.length > MAX_FRAME_BYTES + 14) socket.destroy();
  });
  socket.on('end', () => socket.end());
}

interface Frame {
  /** First byte: FIN, reserved bits and opcode (RFC 6455 5.2). */
  readonly first: number;
  readonly payload: Buffer;
  readonly end: number;
}

function readFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const masked = (bytes.readUInt8(1) & 0x80) !== 0;
  const start = 2 + lengthBytes + (masked ? 4 : 0);
  if (bytes.length < start) return undefined;
  const length =
    lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < start + length) return undefined;
  const payload = Buffer.from(bytes.subarray(start, start + length));
  if (masked) for (let i = 0; i < length; i++) payload[i] = (payload[i] ?? 0) ^ (bytes[start - 4 + (i & 3)] ?? 0);
  return { first: bytes.readUInt8(0), payload, end: start + length };
}

function writeFrame(first: number, payload: Buffer): Buffer {
  const length = payload.length;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65536 ? 4 : 10);
  head.writeUInt8(first, 0);
  if (length < 126) head.writeUInt8(length, 1);
  else if (length < 65536) {
    head.writeUInt8(126, 1);
    head.writeUInt16BE(length, 2);
  } else {
    head.writeUInt8(127, 1);
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, payload]);
}
