import { GrpcStatus, type Method } from '../transport.ts';
import type { RatedDeed } from './abuse.ts';
import { NOT_GRPC, NOT_POST, onlyTrailers, unknownCompression } from './answer-blocks.ts';
import { ErrorCode, Flag, FrameType, MAX_31_BITS } from './codes.ts';
import { isKnownCompression, KNOWN_COMPRESSIONS } from './compression.ts';
import type { ConnectionParts } from './connection.ts';
import { ForgottenStreams } from './forgotten-streams.ts';
import { grpcTimeoutMs } from './grpc-timeout.ts';
import { type CallHost, Http2Call } from './http2-call.ts';
import type { Http2Limits, LimitName } from './limits.ts';
import type { MessageMemory } from './message-memory.ts';
import type { Output } from './output.ts';
import type { RequestFields } from './request-fields.ts';
import type { Sender } from './sender.ts';

/** Bytes that a stream may send before it has to wait: a long prompt comes in one go (RFC 9113 6.9.2). */
export const STREAM_WINDOW = 1024 * 1024;
/** What is dropped of a request that was refused, before the peer is told to stop. */
const LINGER_BYTES = 64 * 1024;

/** What the streams need of their connection. */
export interface StreamsHost {
  /** The connection is over (RFC 9113 5.4.1). */
  violated(code: ErrorCode, reason: string): void;
  /** False when the peer did this too often, which ended the connection. */
  spend(deed: RatedDeed): boolean;
  limitReached(limit: LimitName): void;
  handlerFailed(path: string, error: unknown): void;
  callOpened(): void;
  callClosed(): void;
  /** The peer reset a call that was open. */
  resetReceived(): void;
}

/** All streams of one connection: how they open, carry data, and end (RFC 9113 5.1). */
export class Streams implements CallHost {
  readonly output: Output;
  readonly sender: Sender;
  readonly maxMessageBytes: number;
  readonly memory: MessageMemory;
  readonly streamWindow = STREAM_WINDOW;
  readonly #host: StreamsHost;
  readonly #methods: ReadonlyMap<string, Method>;
  readonly #limits: Http2Limits;
  readonly #open = new Map<number, Http2Call>();
  readonly #reset = new ForgottenStreams();
  readonly #settleSoon = (): void => {
    this.#settle();
  };
  /** Calls that are over, whose handlers are to be told. */
  #ended: Http2Call[] = [];
  /** Calls of this turn that have a time limit: most are over when it ends. */
  #limited: { readonly call: Http2Call; readonly ms: number }[] = [];
  #settling = false;
  #lastId = 0;
  /** Streams above are refused. */
  #lastTaken = MAX_31_BITS;
  /** Of new streams (RFC 9113 6.5.2). */
  #initialWindow: number;
  /** Of the DATA frame that is coming; null when nobody wants it. */
  #dataCall: Http2Call | null = null;
  #dataEndsStream = false;

  constructor(
    host: StreamsHost,
    output: Output,
    sender: Sender,
    parts: Pick<ConnectionParts, 'methods' | 'limits' | 'maxMessageBytes' | 'memory'>,
    initialWindow: number,
  ) {
    this.#host = host;
    this.output = output;
    this.sender = sender;
    this.#methods = parts.methods;
    this.#limits = parts.limits;
    this.maxMessageBytes = parts.maxMessageBytes;
    this.memory = parts.memory;
    this.#initialWindow = initialWindow;
  }

  /** Streams that are not over. */
  get size(): number {
    return this.#open.size;
  }

  /** The latest that the peer opened. */
  get lastId(): number {
    return this.#lastId;
  }

  /** No stream is taken that begins now. */
  get refuses(): boolean {
    return this.#lastTaken < MAX_31_BITS;
  }

  /** Refuses streams that begin from now on. */
  takeNoMore(): void {
    this.#lastTaken = this.#lastId;
  }

  /** A header block has been read. @param dependsOnItself a fault of the frame that carries it (RFC 7540 5.3.1) */
  headers(id: number, flags: number, fields: RequestFields, dependsOnItself: boolean): void {
    const endStream = (flags & Flag.endStream) !== 0;
    const call = this.#open.get(id);
    if (call !== undefined) {
      if (!call.remoteOpen) this.#fault(id, ErrorCode.streamClosed);
      else if (!endStream || fields.malformed || dependsOnItself) this.#fault(id, ErrorCode.protocolError);
      else this.#remoteEnds(call);
      return;
    }
    if (id <= this.#lastId) {
      if (!this.#reset.has(id)) this.#host.violated(ErrorCode.streamClosed, 'HEADERS on a closed stream');
      return;
    }
    this.#lastId = id;
    if (id > this.#lastTaken) {
      this.#resetStream(id, ErrorCode.refusedStream);
      return;
    }
    if (this.#open.size >= this.#limits.streams) {
      this.#host.limitReached('streams');
      this.#fault(id, ErrorCode.refusedStream);
      return;
    }
    if (fields.malformed || dependsOnItself) {
      this.#fault(id, ErrorCode.protocolError);
      return;
    }
    if (endStream && fields.contentLength > 0) {
      this.#fault(id, ErrorCode.protocolError);
      return;
    }
    this.#begin(id, fields, endStream);
  }

  /** Whether it is open: its next header block is trailers then. */
  has(id: number): boolean {
    return this.#open.has(id);
  }

  /** The start of a DATA frame of `length` bytes. */
  dataBegins(id: number, length: number, flags: number): void {
    this.#dataCall = null;
    this.#dataEndsStream = (flags & Flag.endStream) !== 0;
    const call = this.#open.get(id);
    if (call === undefined) {
      if (id > this.#lastId) this.#host.violated(ErrorCode.protocolError, 'DATA on a stream that is not open');
      else if (!this.#reset.has(id)) this.#fault(id, ErrorCode.streamClosed);
    } else if (!call.remoteOpen) this.#fault(id, ErrorCode.streamClosed);
    else if (!call.receiveWindow.take(length)) this.#fault(id, ErrorCode.flowControlError);
    else this.#dataCall = call;
  }

  data(bytes: Buffer, from: number, to: number): void {
    this.#dataCall?.data(bytes, from, to);
  }

  dataEnds(): void {
    const call = this.#dataCall;
    this.#dataCall = null;
    // What came may have ended it.
    if (call === null || this.#open.get(call.id) !== call) return;
    if (this.#dataEndsStream) this.#remoteEnds(call);
    else if (call.lingers && call.received > LINGER_BYTES) {
      this.#open.delete(call.id);
      this.#resetStream(call.id, ErrorCode.noError);
    } else this.#grant(call);
  }

  /** RST_STREAM came. */
  peerReset(id: number): void {
    const call = this.#open.get(id);
    if (call === undefined) {
      if (id > this.#lastId) this.#host.violated(ErrorCode.protocolError, 'RST_STREAM on a stream that is not open');
      return;
    }
    const { answered } = call;
    this.#host.resetReceived();
    this.#lose(call);
    if (!answered) this.#host.spend('unanswered_resets');
  }

  /** WINDOW_UPDATE came for a stream. */
  granted(id: number, bytes: number): void {
    const call = this.#open.get(id);
    if (call === undefined) {
      if (id > this.#lastId) this.#host.violated(ErrorCode.protocolError, 'WINDOW_UPDATE on a stream that is not open');
    } else if (bytes === 0) this.#fault(id, ErrorCode.protocolError);
    else if (!this.sender.grantTo(call, bytes)) this.#fault(id, ErrorCode.flowControlError);
    else this.sender.pump();
  }

  /** SETTINGS_INITIAL_WINDOW_SIZE changed, for open streams, too (RFC 9113 6.9.2). */
  initialWindow(bytes: number): void {
    const more = bytes - this.#initialWindow;
    this.#initialWindow = bytes;
    if (more === 0) return;
    for (const call of this.#open.values()) {
      if (this.sender.grantTo(call, more)) continue;
      this.#host.violated(ErrorCode.flowControlError, 'a window of more than 2^31-1');
      return;
    }
    this.sender.pump();
  }

  /** A frame about a stream is wrong: the stream ends (RFC 9113 5.4.2); one that has not begun cannot be reset (6.4). */
  fault(id: number, code: ErrorCode): void {
    if (id > this.#lastId) this.#host.violated(code, 'a wrong frame about a stream that is not open');
    else if (this.#reset.has(id)) this.#host.spend('idle_frames');
    else this.#fault(id, code);
  }

  /** The connection is gone. */
  loseAll(): void {
    for (const call of [...this.#open.values()]) this.#lose(call);
  }

  /** Once the turn is over: tells the handlers of calls that are over, and has an eye on those that may take long. */
  #settle(): void {
    this.#settling = false;
    const limited = this.#limited;
    this.#limited = [];
    for (const { call, ms } of limited) call.limit(ms);
    while (this.#ended.length > 0) {
      const ended = this.#ended;
      this.#ended = [];
      for (const call of ended) {
        const { served } = call;
        call.close();
        if (served) this.#host.callClosed();
      }
    }
  }

  handlerFailed(path: string, error: unknown): void {
    this.#host.handlerFailed(path, error);
  }

  finished(call: Http2Call): void {
    if (!call.remoteOpen) this.#open.delete(call.id);
    else if (!call.lingers) {
      this.#open.delete(call.id);
      // What the client still sends is wanted by nobody (RFC 9113 8.1).
      this.#resetStream(call.id, ErrorCode.noError);
    }
    this.#end(call);
  }

  drained(call: Http2Call): void {
    if (call.remoteOpen && this.#open.get(call.id) === call) this.#grant(call);
  }

  queuedTooMuch(call: Http2Call): void {
    this.#host.limitReached('send_queue');
    this.#resetStream(call.id, ErrorCode.enhanceYourCalm);
    this.#lose(call);
  }

  #begin(id: number, fields: RequestFields, endStream: boolean): void {
    const { list, contentLength, encoding } = fields;
    const call = new Http2Call(this, id, this.#initialWindow, list, contentLength, encoding);
    this.#open.set(id, call);
    call.remoteOpen = !endStream;
    if (fields.tooLarge) {
      this.#host.limitReached('header_list');
      const limit = `the request has more than ${this.#limits.headerListBytes} bytes of headers`;
      call.refuse(onlyTrailers(GrpcStatus.resourceExhausted, limit));
      return;
    }
    if (fields.method !== 'POST') {
      call.refuseAsHttp(NOT_POST);
      return;
    }
    if (!isGrpc(fields.contentType)) {
      call.refuseAsHttp(NOT_GRPC);
      return;
    }
    const method = this.#methods.get(fields.path);
    if (method === undefined) {
      call.refuse(onlyTrailers(GrpcStatus.unimplemented, `no method ${fields.path}`));
      return;
    }
    if (!isKnownCompression(encoding)) {
      call.refuse(unknownCompression(`messages compressed by ${encoding}`, KNOWN_COMPRESSIONS));
      return;
    }
    const timeoutMs = fields.timeout === '' ? null : grpcTimeoutMs(fields.timeout);
    if (fields.timeout !== '' && timeoutMs === null) {
      call.refuse(onlyTrailers(GrpcStatus.internal, `grpc-timeout ${fields.timeout} is no time`));
      return;
    }
    if (!call.open(method)) return;
    this.#host.callOpened();
    if (timeoutMs !== null) {
      this.#limited.push({ call, ms: timeoutMs });
      this.#schedule();
    }
    if (endStream) call.remoteEnded();
  }

  #remoteEnds(call: Http2Call): void {
    if (call.contentLength >= 0 && call.contentLength !== call.received) {
      this.#fault(call.id, ErrorCode.protocolError);
      return;
    }
    call.remoteEnded();
    if (call.lingers && call.sent) this.#open.delete(call.id);
  }

  #grant(call: Http2Call): void {
    if (call.holdsBack) return;
    const bytes = call.receiveWindow.due();
    if (bytes === 0) return;
    this.output.frame(FrameType.windowUpdate, 0, call.id, 4);
    this.output.uint32(bytes);
  }

  #fault(id: number, code: ErrorCode): void {
    this.#resetStream(id, code);
    const call = this.#open.get(id);
    if (call !== undefined) this.#lose(call);
    this.#host.spend('provoked_resets');
  }

  #resetStream(id: number, code: ErrorCode): void {
    this.#reset.add(id);
    this.output.frame(FrameType.rstStream, 0, id, 4);
    this.output.uint32(code);
  }

  #lose(call: Http2Call): void {
    this.#open.delete(call.id);
    if (call === this.#dataCall) this.#dataCall = null;
    call.lost();
    this.#end(call);
  }

  #end(call: Http2Call): void {
    this.#ended.push(call);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#settling) return;
    this.#settling = true;
    process.nextTick(this.#settleSoon);
  }
}

/** `application/grpc`, alone or with what its messages are or a parameter. */
function isGrpc(contentType: string): boolean {
  if (!contentType.startsWith('application/grpc')) return false;
  const next = contentType.charAt('application/grpc'.length);
  return next === '' || next === '+' || next === ';';
}
