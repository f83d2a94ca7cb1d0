import type { Socket } from 'node:net';
import type { Method } from '../transport.ts';
import { Abuse, type RatedDeed } from './abuse.ts';
import { DEFAULT_WINDOW, ErrorCode, Flag, FrameType, MAX_31_BITS, Setting } from './codes.ts';
import { FrameReader, type FrameTaker } from './frame-reader.ts';
import { HeaderBlocks } from './header-blocks.ts';
import { HpackDecoder } from './hpack/decoder.ts';
import type { Http2Limits, LimitName } from './limits.ts';
import type { MessageMemory } from './message-memory.ts';
import { Output } from './output.ts';
import { PeerSettings } from './peer-settings.ts';
import { ReceiveWindow } from './receive-window.ts';
import { RequestFields } from './request-fields.ts';
import { Sender } from './sender.ts';
import { STREAM_WINDOW, Streams, type StreamsHost } from './streams.ts';

/** What all connections of a transport share. */
export interface ConnectionParts {
  readonly methods: ReadonlyMap<string, Method>;
  readonly limits: Http2Limits;
  readonly maxMessageBytes: number;
  readonly memory: MessageMemory;
  readonly observer: ConnectionObserver;
}

export interface ConnectionObserver {
  handlerFailed(path: string, error: unknown): void;
  limitReached(limit: LimitName): void;
  callOpened(): void;
  callClosed(): void;
  /** The peer reset a call that was open. */
  resetReceived(): void;
  goAwaySent(): void;
  /** The connection itself failed, which is a fault of this code. */
  broke(error: unknown): void;
}

/** What all streams of a connection may send together before they have to wait. */
const CONNECTION_WINDOW = 16 * STREAM_WINDOW;
/** With so much unsent nothing more is read: what comes are questions, too. */
const PAUSE_BYTES = 1024 * 1024;
/** How long the peer of a connection that was ended may take to close it. */
const END_MS = 1000;
const PING_BYTES = 8;
const DRAIN_PING = Buffer.from('draining');
const ALIVE_PING = Buffer.from('alive?  ');
const PRIORITY_BYTES = 5;

/**
 * The server's side of one HTTP/2 connection (RFC 9113) that carries gRPC calls. It reads a piece of the socket, lets the calls
 * answer all that is in it, and writes once.
 */
export class Connection implements FrameTaker, StreamsHost {
  readonly #socket: Socket;
  readonly #limits: Http2Limits;
  readonly #observer: ConnectionObserver;
  readonly #output: Output;
  readonly #sender: Sender;
  readonly #streams: Streams;
  readonly #reader: FrameReader;
  readonly #blocks: HeaderBlocks;
  readonly #decoder = new HpackDecoder();
  readonly #fields: RequestFields;
  readonly #peer = new PeerSettings();
  readonly #window = new ReceiveWindow(CONNECTION_WINDOW);
  readonly #abuse: Abuse;
  readonly #openedAt: number;
  #settingsSeen = false;
  /** The HEADERS frame of the block that is read makes its stream depend on itself (RFC 7540 5.3.1). */
  #dependsOnItself = false;
  /** The DATA frame that is read ends nothing and has had no content, though it may have padding. */
  #dataIsEmpty = false;
  #now: number;
  /** When bytes came, and when the peer took some. */
  #heardAt: number;
  #takenAt: number;
  #takenBytes = 0;
  /** An answer is awaited since then. */
  #pingedAt: number | null = null;
  #draining = false;
  /** No frame is read or written any more. */
  #over = false;
  #endedAt = 0;

  /** @param now milliseconds of a steady clock, as for the other calls */
  constructor(socket: Socket, parts: ConnectionParts, now: number) {
    const { limits } = parts;
    this.#socket = socket;
    this.#limits = limits;
    this.#observer = parts.observer;
    this.#now = now;
    this.#openedAt = now;
    this.#heardAt = now;
    this.#takenAt = now;
    this.#output = new Output(socket);
    this.#sender = new Sender(this.#output, limits.sendQueueBytes);
    this.#streams = new Streams(this, this.#output, this.#sender, parts, this.#peer.initialWindow);
    this.#reader = new FrameReader(this, limits.frameBytes);
    this.#blocks = new HeaderBlocks(limits);
    this.#fields = new RequestFields(limits.headerListBytes);
    this.#abuse = new Abuse(limits, now);
    this.#greet();
  }

  /** Reads a piece of the socket, and writes what there is to answer. */
  read(piece: Buffer, now: number): void {
    if (this.#over) return;
    this.#now = now;
    this.#heardAt = now;
    this.#pingedAt = null;
    this.#output.beginTurn();
    try {
      this.#reader.read(piece);
    } catch (error) {
      this.#observer.broke(error);
      this.#end(ErrorCode.internalError, 'internal error');
    }
    this.#output.endTurn();
    if (this.#output.unsent > PAUSE_BYTES) this.#socket.pause();
  }

  /** The socket has sent all it had. */
  writable(): void {
    if (this.#over) return;
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#output.beginTurn();
    this.#sender.pump();
    this.#output.endTurn();
  }

  /** The socket is gone. */
  lost(): void {
    this.#over = true;
    this.#reader.stop();
    this.#streams.loseAll();
  }

  /** Takes no streams that begin after the peer has heard of it, and ends with the last one (RFC 9113 6.8). */
  drain(): void {
    if (this.#draining || this.#over) return;
    this.#draining = true;
    this.#goAway(MAX_31_BITS, ErrorCode.noError, '');
    this.#ping(DRAIN_PING, 0, 0);
  }

  /** Ends everything now. */
  close(): void {
    if (!this.#over) this.#end(ErrorCode.noError, 'closing');
    this.#socket.destroy();
  }

  /** Called about once a second: what takes too long. */
  tick(now: number): void {
    this.#now = now;
    if (this.#over) {
      if (now - this.#endedAt >= END_MS) this.#socket.destroy();
      return;
    }
    const { prefaceMs, slowReaderMs, keepaliveMs, keepaliveTimeoutMs } = this.#limits;
    if (!this.#settingsSeen) {
      if (now - this.#openedAt >= prefaceMs) this.#tooLate('preface');
    } else if (this.#unsentFor(now) >= slowReaderMs) this.#tooLate('slow_reader');
    else if (this.#pingedAt !== null) {
      if (now - this.#pingedAt >= keepaliveTimeoutMs) this.#tooLate('keepalive');
    } else if (now - this.#heardAt >= keepaliveMs) {
      this.#pingedAt = now;
      this.#ping(ALIVE_PING, 0, 0);
    }
  }

  frame(type: number, flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    if (!this.#expects(type, id)) return;
    const length = to - from;
    switch (type) {
      case FrameType.headers:
        this.#headers(flags, id, bytes, from, to);
        break;
      case FrameType.continuation:
        this.#continuation(flags, bytes.subarray(from, to));
        break;
      case FrameType.rstStream:
        if (length !== 4) this.violated(ErrorCode.frameSizeError, 'RST_STREAM of another size than 4');
        else this.#streams.peerReset(id);
        break;
      case FrameType.windowUpdate:
        if (length !== 4) this.violated(ErrorCode.frameSizeError, 'WINDOW_UPDATE of another size than 4');
        else this.#windowUpdate(id, bytes.readUInt32BE(from) & MAX_31_BITS);
        break;
      case FrameType.settings:
        this.#settings(flags, bytes, from, to);
        break;
      case FrameType.ping:
        if (length !== PING_BYTES) this.violated(ErrorCode.frameSizeError, 'PING of another size than 8');
        else this.#pinged(flags, bytes, from);
        break;
      case FrameType.goAway:
        // Its streams end as they would; the peer closes.
        if (length < 8) this.violated(ErrorCode.frameSizeError, 'GOAWAY of less than 8 bytes');
        else this.spend('idle_frames');
        break;
      case FrameType.priority:
        this.#priority(id, bytes, from, length);
        break;
      case FrameType.pushPromise:
        this.violated(ErrorCode.protocolError, 'PUSH_PROMISE from a client');
        break;
      default:
        // RFC 9113 4.1: of a type that is not known.
        this.spend('idle_frames');
    }
  }

  dataBegins(id: number, length: number, flags: number): void {
    if (!this.#expects(FrameType.data, id)) return;
    if (!this.#window.take(length)) {
      this.violated(ErrorCode.flowControlError, 'more DATA than the window');
      return;
    }
    const bytes = this.#window.due();
    if (bytes > 0) {
      this.#output.frame(FrameType.windowUpdate, 0, 0, 4);
      this.#output.uint32(bytes);
    }
    this.#dataIsEmpty = (flags & Flag.endStream) === 0;
    this.#streams.dataBegins(id, length, flags);
  }

  data(bytes: Buffer, from: number, to: number): void {
    this.#dataIsEmpty = false;
    this.#streams.data(bytes, from, to);
  }

  dataEnds(): void {
    if (this.#dataIsEmpty && !this.spend('empty_frames')) return;
    this.#streams.dataEnds();
    this.#endIfDrained();
  }

  tooLarge(): void {
    this.#observer.limitReached('frame_size');
    this.#end(ErrorCode.frameSizeError, `frames have at most ${this.#limits.frameBytes} bytes`);
  }

  violated(code: ErrorCode, reason: string): void {
    this.#end(code, reason);
  }

  spend(deed: RatedDeed): boolean {
    if (this.#abuse.allows(deed, this.#now)) return true;
    this.#reached(deed);
    return false;
  }

  limitReached(limit: LimitName): void {
    this.#observer.limitReached(limit);
  }

  handlerFailed(path: string, error: unknown): void {
    this.#observer.handlerFailed(path, error);
  }

  callOpened(): void {
    this.#observer.callOpened();
  }

  callClosed(): void {
    this.#observer.callClosed();
    this.#endIfDrained();
  }

  resetReceived(): void {
    this.#observer.resetReceived();
  }

  /** Our preface (RFC 9113 3.4): SETTINGS, and a window for the connection, which only an update can give. */
  #greet(): void {
    const output = this.#output;
    const settings = [
      [Setting.maxConcurrentStreams, this.#limits.streams],
      [Setting.initialWindowSize, STREAM_WINDOW],
      [Setting.maxFrameSize, this.#limits.frameBytes],
      [Setting.maxHeaderListSize, this.#limits.headerListBytes],
    ] as const;
    output.frame(FrameType.settings, 0, 0, settings.length * 6);
    for (const [name, value] of settings) {
      output.uint16(name);
      output.uint32(value);
    }
    output.frame(FrameType.windowUpdate, 0, 0, 4);
    output.uint32(CONNECTION_WINDOW - DEFAULT_WINDOW);
  }

  /** Whether a frame may come now, and there (RFC 9113 3.4, 4.3, and the stream ids of section 6). */
  #expects(type: number, id: number): boolean {
    const block = this.#blocks.streamId;
    if (block !== 0 ? type !== FrameType.continuation || id !== block : type === FrameType.continuation) {
      this.violated(ErrorCode.protocolError, 'a header block has to come in one go');
    } else if (!this.#settingsSeen && type !== FrameType.settings) {
      this.violated(ErrorCode.protocolError, 'SETTINGS have to come first');
    } else if (isOfConnection(type) ? id !== 0 : isOfStream(type) && id === 0) {
      this.violated(ErrorCode.protocolError, 'a frame with a stream id that its type cannot have');
    } else return true;
    return false;
  }

  #headers(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    let from = start;
    let to = end;
    if ((flags & Flag.padded) !== 0) {
      to -= bytes[from] ?? 0;
      from += 1;
    }
    this.#dependsOnItself = false;
    if ((flags & Flag.priority) !== 0) {
      this.#dependsOnItself = to - from >= PRIORITY_BYTES && (bytes.readUInt32BE(from) & MAX_31_BITS) === id;
      from += PRIORITY_BYTES;
    }
    if (from > to || start === end) {
      // RFC 9113 6.2: padding that is longer than what it pads.
      this.violated(ErrorCode.protocolError, 'HEADERS with more padding than payload');
      return;
    }
    if (id % 2 === 0) {
      this.violated(ErrorCode.protocolError, 'a client opens streams of odd numbers');
      return;
    }
    if ((flags & Flag.endHeaders) !== 0) {
      this.#block(id, flags, bytes, from, to);
      return;
    }
    const limit = this.#blocks.begin(id, flags, bytes.subarray(from, to));
    if (limit !== null) this.#reached(limit);
  }

  #continuation(flags: number, fragment: Buffer): void {
    const limit = this.#blocks.add(fragment);
    if (limit !== null) {
      this.#reached(limit);
      return;
    }
    if ((flags & Flag.endHeaders) === 0) return;
    const { streamId, flags: first } = this.#blocks;
    const block = this.#blocks.take();
    this.#block(streamId, first, block, 0, block.length);
  }

  /** A whole header block. It is read even where nobody wants it: the tables of both sides have to agree. */
  #block(id: number, flags: number, bytes: Buffer, from: number, to: number): void {
    if (to - from > this.#limits.headerBlockBytes) {
      this.#reached('header_block');
      return;
    }
    this.#fields.begin(this.#streams.has(id));
    if (!this.#decoder.decode(bytes, from, to, this.#fields)) {
      this.violated(ErrorCode.compressionError, 'a header block that is no HPACK');
      return;
    }
    this.#fields.finish();
    this.#streams.headers(id, flags, this.#fields, this.#dependsOnItself);
  }

  #windowUpdate(id: number, bytes: number): void {
    if (!this.spend('window_updates')) return;
    if (id !== 0) {
      this.#streams.granted(id, bytes);
      return;
    }
    if (bytes === 0) {
      this.violated(ErrorCode.protocolError, 'WINDOW_UPDATE of 0');
      return;
    }
    if (!this.#sender.grant(bytes)) {
      this.violated(ErrorCode.flowControlError, 'a window of more than 2^31-1');
      return;
    }
    this.#sender.pump();
  }

  #settings(flags: number, bytes: Buffer, from: number, to: number): void {
    const ack = (flags & Flag.ack) !== 0;
    if ((to - from) % 6 !== 0 || (ack && to > from)) {
      this.violated(ErrorCode.frameSizeError, 'SETTINGS of a wrong size');
      return;
    }
    if (!this.spend('settings')) return;
    this.#settingsSeen = true;
    if (ack) return;
    const error = this.#peer.take(bytes, from, to);
    if (error !== null) {
      this.violated(error, 'SETTINGS with a value that is out of bounds');
      return;
    }
    this.#sender.frameBytes = this.#peer.frameBytes;
    this.#output.frame(FrameType.settings, Flag.ack, 0, 0);
    this.#streams.initialWindow(this.#peer.initialWindow);
  }

  #pinged(flags: number, bytes: Buffer, from: number): void {
    if ((flags & Flag.ack) === 0) {
      if (this.spend('pings')) this.#ping(bytes, from, Flag.ack);
      return;
    }
    if (!this.#draining || DRAIN_PING.compare(bytes, from, from + PING_BYTES) !== 0) {
      this.spend('idle_frames');
      return;
    }
    // The peer has read our GOAWAY, and begins no more streams here.
    this.#streams.takeNoMore();
    this.#goAway(this.#streams.lastId, ErrorCode.noError, '');
    this.#endIfDrained();
  }

  #priority(id: number, bytes: Buffer, from: number, length: number): void {
    if (length !== PRIORITY_BYTES) this.#streams.fault(id, ErrorCode.frameSizeError);
    else if ((bytes.readUInt32BE(from) & MAX_31_BITS) === id) this.#streams.fault(id, ErrorCode.protocolError);
    else this.spend('idle_frames');
  }

  #ping(payload: Buffer, from: number, flags: number): void {
    this.#output.frame(FrameType.ping, flags, 0, PING_BYTES);
    this.#output.bytes(payload.subarray(from, from + PING_BYTES));
  }

  #goAway(lastId: number, code: ErrorCode, reason: string): void {
    const text = Buffer.from(reason);
    this.#output.frame(FrameType.goAway, 0, 0, 8 + text.length);
    this.#output.uint32(lastId);
    this.#output.uint32(code);
    this.#output.bytes(text);
    this.#observer.goAwaySent();
  }

  #reached(limit: LimitName): void {
    this.#observer.limitReached(limit);
    this.#end(ErrorCode.enhanceYourCalm, `more ${limit} than one connection may have`);
  }

  #tooLate(limit: LimitName): void {
    this.#observer.limitReached(limit);
    this.#end(ErrorCode.noError, `${limit} timeout`);
    this.#socket.destroy();
  }

  #unsentFor(now: number): number {
    const { bytesWritten, writableLength } = this.#socket;
    const taken = bytesWritten - writableLength;
    if (taken !== this.#takenBytes || writableLength === 0) {
      this.#takenBytes = taken;
      this.#takenAt = now;
    }
    return now - this.#takenAt;
  }

  #endIfDrained(): void {
    if (this.#draining && !this.#over && this.#streams.size === 0 && this.#streams.refuses) this.#finish();
  }

  #end(code: ErrorCode, reason: string): void {
    if (this.#over) return;
    this.#goAway(this.#streams.lastId, code, reason);
    this.#finish();
    this.#streams.loseAll();
  }

  /** What was written goes out, and the peer may close in its own time. */
  #finish(): void {
    this.#over = true;
    this.#endedAt = this.#now;
    this.#reader.stop();
    this.#output.flush();
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#socket.end();
  }
}

function isOfConnection(type: number): boolean {
  return type === FrameType.settings || type === FrameType.ping || type === FrameType.goAway;
}

function isOfStream(type: number): boolean {
  return (
    type === FrameType.data || type === FrameType.headers || type === FrameType.priority || type === FrameType.rstStream
  );
}
