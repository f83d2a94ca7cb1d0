import { connect } from 'node:net';
import { HpackEncoder } from './hpack.mjs';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const FRAME_HEAD = 9;
const FRAME_BYTES = 16_384;
const GRPC_HEAD = 5;
const SLAB_BYTES = 256 * 1024;
const FIRST_WINDOW = 65_535;
/** Envoy's, of a stream and of the connection. */
const STREAM_WINDOW = 16 * 1024 * 1024;
const CONNECTION_WINDOW = 24 * 1024 * 1024;

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;

const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
const PADDED = 8;

/** Code of a reset by Envoy (envoy 3.2). */
const INTERNAL_ERROR = 2;
const INITIAL_WINDOW_SIZE = 4;
const EMPTY = Buffer.alloc(0);

/**
 * One connection of an Envoy to its picker: HTTP/2 with prior knowledge, streams that are opened lazily by their first message,
 * one write for all that came out of one turn. It reads the frames and not the header blocks of answers: a stream that got a
 * message and then an end of its own is right, for a status other than OK comes here without a message.
 *
 * A stream's `sink` has `message(stream, bytes)` and `over(stream, ended)`: true after an end by the server that no reset made.
 */
export class Peer {
  /** False once the server sent GOAWAY or the connection is gone: no more streams then. */
  usable = true;
  #socket;
  #encoder = new HpackEncoder();
  #streams = new Map();
  #nextId = 1;
  #received = EMPTY;
  #slab = Buffer.allocUnsafe(SLAB_BYTES);
  #from = 0;
  #at = 0;
  #parts = [];
  #flushing = false;
  #window = FIRST_WINDOW;
  #streamWindow = FIRST_WINDOW;
  #unacknowledged = 0;
  /** Streams with bytes that wait for a window, in the order of their turn. */
  #waiting = new Set();

  /** @param address `host:port` */
  constructor(address) {
    const colon = address.lastIndexOf(':');
    this.#socket = connect({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)), noDelay: true });
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => this.#lost());
    this.#parts.push(PREFACE);
    const settings = Buffer.alloc(12);
    settings.writeUInt16BE(3, 0);
    settings.writeUInt32BE(2 ** 31 - 1, 2);
    settings.writeUInt16BE(INITIAL_WINDOW_SIZE, 6);
    settings.writeUInt32BE(STREAM_WINDOW, 8);
    this.#frame(SETTINGS, 0, 0, settings);
    this.#number(WINDOW_UPDATE, 0, CONNECTION_WINDOW - FIRST_WINDOW);
  }

  /** Resolves when the connection is there; rejects when it is refused. */
  opened() {
    if (!this.#socket.connecting) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve);
      this.#socket.once('error', reject);
    });
  }

  /**
   * Opens a stream by its first message, in DATA frames behind the HEADERS.
   *
   * @param fields and `requestId` as {@link HpackEncoder} has them
   * @param ends whether the message ends the request, as that of a unary call
   */
  open(fields, requestId, message, ends, sink) {
    const stream = {
      id: this.#nextId,
      sink,
      /** What the caller keeps with it. */
      kept: null,
      window: this.#streamWindow,
      queue: [],
      ended: false,
      pending: EMPTY,
    };
    this.#nextId += 2;
    this.#streams.set(stream.id, stream);
    this.#frame(HEADERS, END_HEADERS, stream.id, this.#encoder.block(fields, requestId));
    this.send(stream, message, ends);
    return stream;
  }

  /** Sends a message with its five bytes, as the windows let it. */
  send(stream, message, ends = false) {
    stream.queue.push({ bytes: message, at: 0, ends });
    this.#pump(stream);
  }

  halfClose(stream) {
    if (!stream.ended) this.send(stream, EMPTY, true);
  }

  /** The stream is over with it; its sink is told nothing more. */
  reset(stream) {
    if (this.#streams.has(stream.id)) this.#number(RST_STREAM, stream.id, INTERNAL_ERROR);
    this.#forget(stream);
  }

  close() {
    this.#socket.destroy();
  }

  #pump(stream) {
    for (let first = stream.queue[0]; first !== undefined; first = stream.queue[0]) {
      const left = first.bytes.length - first.at;
      const size = Math.min(left, FRAME_BYTES, this.#window, stream.window);
      if (size <= 0 && left > 0) {
        this.#waiting.add(stream);
        return;
      }
      const last = size === left;
      this.#frame(
        DATA,
        last && first.ends ? END_STREAM : 0,
        stream.id,
        first.bytes.subarray(first.at, first.at + size),
      );
      first.at += size;
      this.#window -= size;
      stream.window -= size;
      if (!last) continue;
      if (first.ends) stream.ended = true;
      stream.queue.shift();
    }
    this.#waiting.delete(stream);
  }

  #read(chunk) {
    const bytes = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    let at = 0;
    while (bytes.length - at >= FRAME_HEAD) {
      const end = at + FRAME_HEAD + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const id = bytes.readUInt32BE(at + 5) & 0x7fffffff;
      this.#handle(bytes[at + 3], bytes[at + 4], id, bytes.subarray(at + FRAME_HEAD, end));
      at = end;
    }
    this.#received = bytes.subarray(at);
  }

  #handle(type, flags, id, payload) {
    const stream = this.#streams.get(id);
    if (type === DATA) this.#data(stream, flags, payload);
    else if (type === HEADERS && (flags & END_STREAM) !== 0 && stream !== undefined) this.#end(stream);
    else if (type === RST_STREAM && stream !== undefined) {
      this.#forget(stream);
      stream.sink.over(stream, false);
    } else if (type === SETTINGS && (flags & ACK) === 0) this.#settings(payload);
    else if (type === PING && (flags & ACK) === 0) this.#frame(PING, ACK, 0, Buffer.from(payload));
    else if (type === WINDOW_UPDATE) this.#widen(stream, id, payload.readUInt32BE(0) & 0x7fffffff);
    else if (type === GOAWAY) this.#goAway(payload.readUInt32BE(0) & 0x7fffffff);
  }

  #data(stream, flags, payload) {
    this.#unacknowledged += payload.length;
    if (this.#unacknowledged > CONNECTION_WINDOW / 2) {
      this.#number(WINDOW_UPDATE, 0, this.#unacknowledged);
      this.#unacknowledged = 0;
    }
    if (stream === undefined) return;
    const body = (flags & PADDED) === 0 ? payload : payload.subarray(1, payload.length - payload[0]);
    let bytes = stream.pending.length === 0 ? body : Buffer.concat([stream.pending, body]);
    while (bytes.length >= GRPC_HEAD) {
      const end = GRPC_HEAD + bytes.readUInt32BE(1);
      if (bytes.length < end) break;
      const message = bytes.subarray(GRPC_HEAD, end);
      bytes = bytes.subarray(end);
      stream.sink.message(stream, message);
    }
    stream.pending = bytes;
    if ((flags & END_STREAM) !== 0 && this.#streams.has(stream.id)) this.#end(stream);
  }

  /** The server ended the stream. Before our own end Envoy answers with a reset (envoy 3.2). */
  #end(stream) {
    if (stream.ended) this.#forget(stream);
    else this.reset(stream);
    stream.sink.over(stream, true);
  }

  #settings(payload) {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== INITIAL_WINDOW_SIZE) continue;
      const size = payload.readUInt32BE(at + 2);
      for (const stream of this.#streams.values()) stream.window += size - this.#streamWindow;
      this.#streamWindow = size;
    }
    this.#frame(SETTINGS, ACK, 0, EMPTY);
    for (const stream of [...this.#waiting]) this.#pump(stream);
  }

  #widen(stream, id, size) {
    if (id === 0) {
      this.#window += size;
      for (const waiting of [...this.#waiting]) this.#pump(waiting);
    } else if (stream !== undefined) {
      stream.window += size;
      if (this.#waiting.has(stream)) this.#pump(stream);
    }
  }

  #goAway(lastId) {
    this.usable = false;
    for (const stream of [...this.#streams.values()]) {
      if (stream.id <= lastId) continue;
      this.#forget(stream);
      stream.sink.over(stream, false);
    }
  }

  #lost() {
    this.usable = false;
    for (const stream of [...this.#streams.values()]) {
      this.#forget(stream);
      stream.sink.over(stream, false);
    }
  }

  #forget(stream) {
    this.#streams.delete(stream.id);
    this.#waiting.delete(stream);
    stream.queue.length = 0;
  }

  #number(type, id, value) {
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32BE(value, 0);
    this.#frame(type, 0, id, payload);
  }

  /** A long payload goes out as it lies, others are copied together. */
  #frame(type, flags, id, payload) {
    const long = payload.length > 2048;
    const needed = FRAME_HEAD + (long ? 0 : payload.length);
    if (this.#at + needed > this.#slab.length) {
      this.#cut();
      this.#slab = Buffer.allocUnsafe(SLAB_BYTES);
      this.#from = 0;
      this.#at = 0;
    }
    this.#slab.writeUIntBE(payload.length, this.#at, 3);
    this.#slab[this.#at + 3] = type;
    this.#slab[this.#at + 4] = flags;
    this.#slab.writeUInt32BE(id, this.#at + 5);
    this.#at += FRAME_HEAD;
    if (long) {
      this.#cut();
      this.#parts.push(payload);
    } else {
      this.#at += payload.copy(this.#slab, this.#at);
    }
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => this.#flush());
  }

  #cut() {
    if (this.#at > this.#from) this.#parts.push(this.#slab.subarray(this.#from, this.#at));
    this.#from = this.#at;
  }

  #flush() {
    this.#flushing = false;
    this.#cut();
    const parts = this.#parts;
    this.#parts = [];
    if (this.#socket.destroyed) return;
    this.#socket.cork();
    for (const part of parts) this.#socket.write(part);
    this.#socket.uncork();
  }
}
