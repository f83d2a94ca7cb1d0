import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ErrorCode, Flag, FrameType } from '../../src/transport/http2/codes.ts';
import { literalField } from '../../src/transport/http2/hpack/literals.ts';
import { type RawFrame, RawFrames, rawFrame } from '../../src/transport/http2/hpack/raw-frames.suite.ts';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const NONE: Buffer = Buffer.alloc(0);
const WAIT_MS = 10_000;

export type Field = readonly [name: string, value: string];

/** What a GOAWAY said (RFC 9113 6.8). */
export interface GoAway {
  readonly code: number;
  readonly reason: string;
}

/**
 * An HTTP/2 client that sends what it is told to, wrong or right, and answers nothing by itself.
 */
export class RawHttp2 {
  /** All that came, in order. */
  readonly frames: RawFrame[] = [];
  readonly socket: Socket;
  #closed = false;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    const reader = new RawFrames(0);
    socket.on('data', (piece) => {
      this.frames.push(...reader.add(piece));
      this.#look();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#closed = true;
      this.#look();
    });
  }

  /** @param address as a transport names it: `host:port` or `unix:path` */
  static async connect(address: string, { tls = false } = {}): Promise<RawHttp2> {
    const { hostname, port } = new URL(address.startsWith('unix:') ? 'http://unix:1' : `http://${address}`);
    const to = address.startsWith('unix:') ? { path: address.slice(5) } : { host: hostname, port: Number(port) };
    const socket = tls ? connectTls({ ...to, rejectUnauthorized: false, ALPNProtocols: ['h2'] }) : connectTcp(to);
    await new Promise((resolve, reject) => {
      socket.once(tls ? 'secureConnect' : 'connect', resolve);
      socket.once('error', reject);
    });
    return new RawHttp2(socket);
  }

  /** The same, with preface and SETTINGS sent. */
  static async open(address: string, settings: readonly (readonly [number, number])[] = []): Promise<RawHttp2> {
    return (await RawHttp2.connect(address)).preface(settings);
  }

  /** The connection is gone, by whomever. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Bytes as they are. False when the socket wants no more for now, see {@link writable}. */
  write(bytes: Buffer): boolean {
    return this.socket.writable && this.socket.write(bytes);
  }

  preface(settings: readonly (readonly [number, number])[] = []): this {
    this.write(Buffer.from(PREFACE));
    return this.settings(settings);
  }

  frame(type: number, flags = 0, streamId = 0, payload: Buffer = NONE): this {
    this.write(rawFrame(type, flags, streamId, payload));
    return this;
  }

  settings(entries: readonly (readonly [number, number])[] = []): this {
    return this.frame(FrameType.settings, 0, 0, settingsPayload(entries));
  }

  /** The HEADERS of a gRPC call. */
  call(streamId: number, path: string, more: readonly Field[] = [], flags: number = Flag.endHeaders): this {
    return this.frame(FrameType.headers, flags, streamId, grpcHeaders(path, more));
  }

  data(streamId: number, payload: Buffer = NONE, flags = 0): this {
    return this.frame(FrameType.data, flags, streamId, payload);
  }

  reset(streamId: number, code: number = ErrorCode.cancel): this {
    return this.frame(FrameType.rstStream, 0, streamId, uint32(code));
  }

  windowUpdate(streamId: number, bytes: number): this {
    return this.frame(FrameType.windowUpdate, 0, streamId, uint32(bytes));
  }

  /** Resolves when the socket takes more, or is gone. */
  writable(): Promise<unknown> {
    return this.until(() => this.#closed || !this.socket.writable || !this.socket.writableNeedDrain, 'room to write');
  }

  /** The first frame that fits, of those that came and will come. Rejects when the connection ends without it. */
  async received(fits: (frame: RawFrame) => boolean, what = 'a frame'): Promise<RawFrame> {
    await this.until(() => this.#closed || this.frames.some(fits), what);
    const found = this.frames.find(fits);
    if (found === undefined) throw new Error(`the connection ended before ${what}`);
    return found;
  }

  /** The frame of this type about a stream. */
  receivedOn(streamId: number, type: number): Promise<RawFrame> {
    return this.received((frame) => frame.streamId === streamId && frame.type === type, `type ${type} on ${streamId}`);
  }

  async goAway(): Promise<GoAway> {
    const { payload } = await this.received(({ type }) => type === FrameType.goAway, 'GOAWAY');
    return { code: payload.readUInt32BE(4), reason: payload.subarray(8).toString() };
  }

  /** The code of the RST_STREAM about a stream. */
  async resetCode(streamId: number): Promise<number> {
    return (await this.receivedOn(streamId, FrameType.rstStream)).payload.readUInt32BE();
  }

  /** Whether the connection still answers: a PING comes back (RFC 9113 6.7). */
  async answers(): Promise<boolean> {
    const mark = Buffer.alloc(8, Math.floor(Math.random() * 256));
    const before = this.frames.length;
    this.frame(FrameType.ping, 0, 0, mark);
    const isBack = (frame: RawFrame, index: number): boolean =>
      index >= before && frame.type === FrameType.ping && frame.flags === Flag.ack && frame.payload.equals(mark);
    await this.until(() => this.#closed || this.frames.some(isBack), 'an answer to PING');
    return this.frames.some(isBack);
  }

  async ended(): Promise<void> {
    await this.until(() => this.#closed, 'the end of the connection');
  }

  /** Checked whenever frames come, bytes leave, or the connection ends. */
  until(condition: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        clearTimeout(late);
        this.#waiting.delete(check);
        this.socket.off('drain', check);
      };
      const check = (): void => {
        if (!condition()) return;
        finish();
        resolve();
      };
      const late = setTimeout(() => {
        finish();
        reject(new Error(`timed out waiting for ${what}`));
      }, WAIT_MS);
      this.#waiting.add(check);
      this.socket.on('drain', check);
      check();
    });
  }

  destroy(): void {
    this.socket.destroy();
  }

  #look(): void {
    for (const check of [...this.#waiting]) check();
  }
}

/** The header block of a gRPC call, in literals that touch no table. */
export function grpcHeaders(path: string, more: readonly Field[] = []): Buffer {
  return headerBlock([
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'test'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    ...more,
  ]);
}

export function headerBlock(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.map(([name, value]) => literalField(name, value)));
}

export function settingsPayload(entries: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(entries.length * 6);
  entries.forEach(([name, value], index) => {
    payload.writeUInt16BE(name, index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  });
  return payload;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
