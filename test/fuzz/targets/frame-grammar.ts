/** What a client sends on a connection, mostly as RFC 9113 wants it. */
import { deflateSync, gzipSync } from 'node:zlib';
import type { ByteSink } from '../lib/byte-sink.ts';
import type { Random } from '../lib/random.ts';

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rst: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
};
const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const PADDED = 0x8;
const PRIORITY = 0x20;

/** Methods by what their handlers do. */
const GOOD_PATHS = ['/f/echo', '/f/echo', '/f/first', '/f/early', '/f/large'];
export const PATHS = ['/f/echo', '/f/first', '/f/early', '/f/throw', '/f/large', '/f/never', '/f/broken'];
const METHODS = ['POST', 'POST', 'POST', 'POST', 'POST', 'POST', 'GET', ''];
const TYPES = [
  'application/grpc',
  'application/grpc',
  'application/grpc',
  'application/grpc+proto',
  'text/plain',
  'application/grpcx',
  '',
];
const ODD_FIELDS: readonly (readonly [string, string])[] = [
  ['te', 'trailers'],
  ['te', 'gzip'],
  ['grpc-timeout', '5S'],
  ['grpc-timeout', '1n'],
  ['grpc-timeout', '12'],
  ['grpc-encoding', 'gzip'],
  ['grpc-encoding', 'gzip'],
  ['grpc-encoding', 'deflate'],
  ['grpc-encoding', 'identity'],
  ['grpc-encoding', 'snappy'],
  ['content-length', '0'],
  ['content-length', '12'],
  ['content-length', 'x'],
  ['connection', 'close'],
  ['Upper', 'x'],
  ['x-a', 'b\r\nc'],
  ['x-b', ' '],
  ['', 'x'],
  [':status', '200'],
  [':path', '/again'],
  ['user-agent', 'envoy'],
  ['x-long', 'v'.repeat(300)],
  ['cookie', 'a=b'],
  ['upgrade', 'h2c'],
];

/** A small message, one that is as large as it may be, and one that is larger; in both compressions. */
const COMPRESSED = [10, 64 * 1024, 64 * 1024 + 1]
  .map((length) => Buffer.alloc(length, 7))
  .flatMap((message) => [gzipSync(message), deflateSync(message)]);

/** With padding, what every peer takes in one frame. */
const MOST_DATA = 16_000;

interface OpenStream {
  readonly id: number;
  /** gRPC messages that are still to be sent. */
  left: Buffer;
  readonly zipped: boolean;
}

export class FrameGrammar {
  readonly #sink: ByteSink;
  readonly #random: Random;
  readonly #block: ByteSink;
  readonly #open: OpenStream[] = [];
  /** Once in so many frames something is wrong; 0: never. */
  readonly #faults: number;
  /** Nothing but what a good client sends, whose calls all come to an end. */
  readonly #good: boolean;
  /** Streams that were opened, and those of them that were reset. */
  readonly opened = new Set<number>();
  readonly reset = new Set<number>();
  #nextId = 1;
  #indexed = 0;

  constructor(sink: ByteSink, block: ByteSink, random: Random, good = false) {
    this.#sink = sink;
    this.#block = block;
    this.#random = random;
    this.#good = good;
    this.#faults = !good && random.once(2) ? 12 : 0;
  }

  frames(): void {
    for (let count = 1 + this.#random.size(24); count > 0; count--) this.#frame();
  }

  /** Opens the windows, and ends what is open. */
  finish(): void {
    this.#header(FRAME.settings, 0, 0, 6);
    this.#sink.uint(4, 2).uint(1_000_000, 4);
    this.#header(FRAME.window, 0, 0, 4);
    this.#sink.uint(100_000_000, 4);
    while (this.#open.length > 0) this.#end(this.#open[0]!);
  }

  #frame(): void {
    const random = this.#random;
    if (this.#faults > 0 && random.once(this.#faults)) {
      this.#fault();
      return;
    }
    const stream = this.#open.length > 0 ? random.pick(this.#open) : null;
    switch (random.below(stream === null ? 5 : 13)) {
      case 0:
      case 1:
        this.#request(random.pick(this.#good ? GOOD_PATHS : PATHS), random.once(8));
        return;
      case 2:
        if (!this.#good && random.once(2)) {
          // What a client answers when the server drains.
          this.#header(FRAME.ping, 1, 0, 8);
          this.#sink.text('draining');
          return;
        }
        this.#header(FRAME.ping, !this.#good && random.once(4) ? 1 : 0, 0, 8);
        this.#sink.uint(random.next(), 4).uint(random.next(), 4);
        return;
      case 3:
        this.#settings();
        return;
      case 4:
        this.#windowUpdate(stream === null || random.once(2) ? 0 : stream.id);
        return;
      case 5:
        this.#end(stream!);
        return;
      case 6:
        this.#close(stream!);
        this.reset.add(stream!.id);
        this.#header(FRAME.rst, 0, stream!.id, 4);
        this.#sink.uint(random.pick([0, 2, 5, 8]), 4);
        return;
      case 7:
        this.#header(FRAME.priority, 0, stream!.id, 5);
        this.#sink.uint(0, 4).byte(16);
        return;
      default:
        if (stream!.left.length === 0 || random.once(4))
          stream!.left = Buffer.concat([stream!.left, this.#message(stream!.zipped)]);
        this.#data(stream!);
    }
  }

  /** Most of these break a rule. */
  #fault(): void {
    const random = this.#random;
    const id = random.once(2) ? random.below(12) : this.#open.length > 0 ? random.pick(this.#open).id : this.#nextId;
    switch (random.below(6)) {
      case 0: {
        const length = random.size(40);
        this.#header(random.below(12), random.below(256), id, length);
        for (let i = 0; i < length; i++) this.#sink.byte(random.below(256));
        return;
      }
      case 1:
        this.#windowUpdate(id);
        return;
      case 2:
        this.#header(FRAME.data, random.once(2) ? END_STREAM : 0, id, 3);
        this.#sink.bytes(Buffer.from([0, 0, 0]));
        return;
      case 3:
        this.#header(FRAME.rst, 0, id, 4);
        this.#sink.uint(8, 4);
        return;
      case 4:
        this.#header(random.below(10), random.below(256), id, random.pick([0, 16384, 65537, 0xffffff]));
        return;
      default:
        this.#header(FRAME.continuation, END_HEADERS, id, 0);
    }
  }

  #request(path: string, ends: boolean): OpenStream {
    const random = this.#random;
    const id = this.#nextId;
    this.#nextId += random.once(6) ? 4 : 2;
    const block = this.#block.clear();
    const odd = this.#faults > 0;
    this.#field(':method', odd ? random.pick(METHODS) : 'POST');
    this.#field(':scheme', 'http');
    this.#field(':path', odd && random.once(20) ? '/unknown' : path);
    if (this.#good || random.once(2)) this.#field(':authority', this.#good ? 'picker' : 'outbound|9002||picker');
    this.#field('content-type', odd ? random.pick(TYPES) : 'application/grpc');
    const zipped = odd && random.once(12);
    if (zipped) this.#field('grpc-encoding', random.pick(['gzip', 'deflate']));
    else if (odd) for (let i = random.size(2); i > 0; i--) this.#field(...random.pick(ODD_FIELDS));
    if (odd && random.once(30)) block.byte(0x80 + random.below(128));
    this.#headers(id, block.done(), ends ? END_STREAM : 0);
    this.opened.add(id);
    const stream = { id, left: Buffer.alloc(0), zipped };
    if (!ends) this.#open.push(stream);
    return stream;
  }

  #headers(id: number, block: Buffer, flags: number): void {
    const random = this.#random;
    const parts = random.once(6) ? 1 + random.size(5) : 1;
    const size = Math.ceil(block.length / parts);
    const padding = random.once(10) ? random.below(20) : -1;
    const priority = random.once(10);
    const first = block.subarray(0, size);
    const last = size >= block.length ? END_HEADERS : 0;
    const extra = (padding < 0 ? 0 : 1 + padding) + (priority ? 5 : 0);
    this.#header(
      FRAME.headers,
      flags | last | (padding < 0 ? 0 : PADDED) | (priority ? PRIORITY : 0),
      id,
      first.length + extra,
    );
    if (padding >= 0) this.#sink.byte(padding);
    if (priority) this.#sink.uint(!this.#good && random.once(20) ? id : 0, 4).byte(random.below(256));
    this.#sink.bytes(first);
    if (padding > 0) this.#sink.bytes(Buffer.alloc(padding));
    for (let at = size; at < block.length; at += size) {
      const part = block.subarray(at, at + size);
      this.#header(FRAME.continuation, at + size >= block.length ? END_HEADERS : 0, id, part.length);
      this.#sink.bytes(part);
    }
  }

  #data(stream: OpenStream): void {
    const random = this.#random;
    const size = Math.min(stream.left.length, random.once(3) ? MOST_DATA : random.size(400));
    const padding = random.once(12) ? random.below(30) : -1;
    const ends = size === stream.left.length && random.once(6);
    this.#header(
      FRAME.data,
      (padding < 0 ? 0 : PADDED) | (ends ? END_STREAM : 0),
      stream.id,
      size + (padding < 0 ? 0 : 1 + padding),
    );
    if (padding >= 0) this.#sink.byte(padding);
    this.#sink.bytes(stream.left.subarray(0, size));
    if (padding > 0) this.#sink.bytes(Buffer.alloc(padding));
    stream.left = stream.left.subarray(size);
    if (ends) this.#close(stream);
  }

  /** @param zipped the request says that messages may be compressed */
  #message(zipped: boolean): Buffer {
    const random = this.#random;
    if (this.#faults > 0 && random.once(zipped ? 3 : 200)) return grpcMessage(random.pick(COMPRESSED), 1);
    const large = random.once(60);
    const body = Buffer.alloc(large ? 1000 + random.below(20_000) : random.size(80), random.below(256));
    return grpcMessage(body, this.#faults > 0 && random.once(15) ? random.below(4) : 0);
  }

  #end(stream: OpenStream): void {
    if (this.#good) while (stream.left.length > MOST_DATA) this.#data(stream);
    this.#close(stream);
    if (stream.left.length === 0 ? this.#random.once(3) : !this.#good && this.#random.once(3)) {
      this.#block.clear();
      this.#field('x-trailer', 'a');
      this.#headers(stream.id, this.#block.done(), END_STREAM);
      return;
    }
    if (stream.left.length > 0 && (this.#good || !this.#random.once(5))) {
      this.#header(FRAME.data, END_STREAM, stream.id, stream.left.length);
      this.#sink.bytes(stream.left);
    } else this.#header(FRAME.data, END_STREAM, stream.id, 0);
  }

  #close(stream: OpenStream): void {
    this.#open.splice(this.#open.indexOf(stream), 1);
  }

  #settings(): void {
    const random = this.#random;
    if (!this.#good && random.once(4)) {
      this.#header(FRAME.settings, 1, 0, 0);
      return;
    }
    const entries = random.size(4);
    this.#header(FRAME.settings, 0, 0, entries * 6);
    for (let i = 0; i < entries; i++) {
      const name = 1 + random.below(7);
      this.#sink.uint(name, 2).uint(this.#settingValue(name), 4);
    }
  }

  #settingValue(name: number): number {
    const random = this.#random;
    if (this.#faults > 0 && random.once(10)) return random.next();
    if (name === 4) return random.pick([0, 1, 100, 65_535, 1_000_000, this.#good ? 20_000 : 0x7fff_ffff]);
    if (name === 5) return random.pick([16_384, 20_000, 0xff_ffff]);
    return name === 2 ? random.below(2) : random.below(10_000);
  }

  #windowUpdate(id: number): void {
    const random = this.#random;
    this.#header(FRAME.window, 0, id, 4);
    this.#sink.uint(
      this.#faults > 0 && random.once(10) ? random.pick([0, 0x7fff_ffff, 0x8000_0001]) : 1 + random.size(200_000),
      4,
    );
  }

  /** A literal, with or without indexing, or what was indexed before. */
  #field(name: string, value: string): void {
    const block = this.#block;
    const random = this.#random;
    if (this.#faults > 0 && this.#indexed > 0 && random.once(40)) {
      block.byte(0x80 | (62 + random.below(Math.min(this.#indexed, 60))));
      return;
    }
    const keeps = random.once(3);
    if (keeps) this.#indexed += 1;
    block.byte(keeps ? 0x40 : 0);
    this.#text(name);
    this.#text(value);
  }

  #text(text: string): void {
    const bytes = Buffer.from(text, 'latin1');
    if (bytes.length < 127) this.#block.byte(bytes.length);
    else
      this.#block
        .byte(127)
        .byte(((bytes.length - 127) % 128) + 128)
        .byte(Math.floor((bytes.length - 127) / 128));
    this.#block.bytes(bytes);
  }

  #header(type: number, flags: number, id: number, length: number): void {
    this.#sink.uint(length, 3).byte(type).byte(flags).uint(id, 4);
  }
}

export function grpcMessage(body: Uint8Array, flag: number): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}
