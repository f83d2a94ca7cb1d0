import { type Call, type CallHandler, GrpcStatus, type Method } from '../transport.ts';
import { ANSWER_HEADERS, type HttpAnswer, onlyTrailers, trailers } from './answer-blocks.ts';
import { Flag, FrameType, MAX_31_BITS } from './codes.ts';
import { inflateMessage } from './compression.ts';
import type { MessageMemory } from './message-memory.ts';
import { MessageReader, type MessageTaker } from './message-reader.ts';
import type { Output } from './output.ts';
import { ReceiveWindow } from './receive-window.ts';
import { SendQueue } from './send-queue.ts';
import type { Sender, SendingCall } from './sender.ts';

/** Bytes of a message before its content: the flag and the length. */
const PREFIX_BYTES = 5;
const NONE = Buffer.alloc(0);
/** A call with more than this to send gets no window for more to receive. */
const ENOUGH_QUEUED = 1024 * 1024;

/** What a call needs of its connection. */
export interface CallHost {
  readonly output: Output;
  readonly sender: Sender;
  readonly maxMessageBytes: number;
  readonly memory: MessageMemory;
  /** Bytes of {@link ReceiveWindow} of each stream. */
  readonly streamWindow: number;
  /** The handler threw. */
  handlerFailed(path: string, error: unknown): void;
  /** The last frame of this call went out. */
  finished(call: Http2Call): void;
  /** All of its messages went out. */
  drained(call: Http2Call): void;
  /** More waits to be sent than is allowed. */
  queuedTooMuch(call: Http2Call): void;
}

/** One stream of a connection: a gRPC call, or a request that is none and gets an HTTP error. */
export class Http2Call implements Call, SendingCall, MessageTaker {
  readonly id: number;
  sendWindow: number;
  queue: SendQueue | null = null;
  /** The peer has not ended its side (RFC 9113 5.1). */
  remoteOpen = true;
  /** Bytes of the body that came, and that were declared; -1 where they were not. */
  received = 0;
  readonly contentLength: number;
  readonly receiveWindow: ReceiveWindow;
  /** Refused before it was read: what the peer sends all the same is dropped, in bounds, and not held against it. */
  lingers = false;
  /** The last frame went out. */
  sent = false;
  readonly #host: CallHost;
  readonly #fields: readonly string[];
  readonly #compression: string;
  readonly #reader: MessageReader;
  #path = '';
  #timer: NodeJS.Timeout | null = null;
  #handler: CallHandler | null = null;
  /** No message goes out any more, nor comes in: ended by us, or gone. */
  #over = false;
  #headersSent = false;
  /** Waits until the queue has been sent. */
  #endBlock: Buffer | null = null;

  /**
   * @param fields name, value, name, value, …
   * @param compression of messages that say they are compressed; empty for none
   */
  constructor(
    host: CallHost,
    id: number,
    sendWindow: number,
    fields: readonly string[],
    contentLength: number,
    compression: string,
  ) {
    this.#host = host;
    this.id = id;
    this.sendWindow = sendWindow;
    this.#fields = fields;
    this.contentLength = contentLength;
    this.#compression = compression;
    this.receiveWindow = new ReceiveWindow(host.streamWindow);
    this.#reader = new MessageReader(this, host.maxMessageBytes, host.memory);
  }

  /** Ended by us, or gone. */
  get over(): boolean {
    return this.#over;
  }

  /** The peer got something of us. */
  get answered(): boolean {
    return this.#headersSent;
  }

  /** A handler was opened, and waits for its `closed`. */
  get served(): boolean {
    return this.#handler !== null;
  }

  /** True while the peer gets no window for more: it does not take what it asked for. */
  get holdsBack(): boolean {
    return this.queue !== null && this.queue.bytes > ENOUGH_QUEUED;
  }

  /** False when the method threw: the call has been ended. */
  open(method: Method): boolean {
    this.#path = method.path;
    try {
      this.#handler = method.open(this);
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  /** Ends the call with DEADLINE_EXCEEDED if it is still open then. */
  limit(ms: number): void {
    if (this.#over) return;
    const end = (): void => this.end(GrpcStatus.deadlineExceeded, 'the time that the client gave is over');
    this.#timer = setTimeout(end, Math.min(ms, MAX_31_BITS));
  }

  /** Ends what is no gRPC call. */
  refuseAsHttp({ headers, body, trailers: end }: HttpAnswer): void {
    this.#refuse();
    this.#headers(headers);
    this.#enqueue(body, NONE);
    this.#endWith(end);
  }

  /** Ends a call that was not opened. @param block all of the answer */
  refuse(block: Buffer): void {
    this.#refuse();
    this.#endWith(block);
  }

  metadata(name: string): string | undefined {
    const fields = this.#fields;
    for (let i = 0; i < fields.length; i += 2) if (fields[i] === name) return fields[i + 1];
    return undefined;
  }

  send(message: Uint8Array): void {
    if (this.#over) return;
    if (!this.#headersSent) this.#headers(ANSWER_HEADERS);
    const { sender, output } = this.#host;
    const size = PREFIX_BYTES + message.length;
    if ((this.queue === null || this.queue.bytes === 0) && sender.passes(this, size)) {
      sender.begin(this, size);
      output.byte(0);
      output.uint32(message.length);
      output.bytes(message);
      return;
    }
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt32BE(message.length, 1);
    this.#enqueue(prefix, message);
  }

  release(message: Buffer): void {
    this.#host.memory.release(message);
  }

  end(status: GrpcStatus = GrpcStatus.ok, details = ''): void {
    if (this.#over) return;
    this.#over = true;
    this.#reader.stop();
    this.#endWith(this.#headersSent ? trailers(status, details) : onlyTrailers(status, details));
  }

  /** A range of the body. */
  data(piece: Buffer, from: number, to: number): void {
    this.received += to - from;
    if (!this.#over) this.#reader.read(piece, from, to);
  }

  wireMessage(bytes: Buffer, compressed: boolean): void {
    if (!compressed) {
      this.#deliver(bytes);
      return;
    }
    const inflated = inflateMessage(this.#compression, bytes, this.#host.maxMessageBytes);
    this.release(bytes);
    if (inflated.kind === 'message') this.#deliver(inflated.bytes);
    else this.unreadable(inflated.kind);
  }

  unreadable(reason: 'too_large' | 'broken'): void {
    if (reason === 'broken') this.end(GrpcStatus.internal, 'not a gRPC message');
    else this.end(GrpcStatus.resourceExhausted, `a message is larger than ${this.#host.maxMessageBytes} bytes`);
  }

  /** The peer has ended its side. */
  remoteEnded(): void {
    this.remoteOpen = false;
    if (this.#over) return;
    if (!this.#reader.whole) {
      this.end(GrpcStatus.internal, 'the stream ended within a message');
      return;
    }
    try {
      this.#handler?.halfClosed();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Reset, or the connection is gone: nothing goes out any more. */
  lost(): void {
    this.#over = true;
    this.#reader.stop();
    this.#endBlock = null;
    this.#host.sender.remove(this);
  }

  drained(): void {
    this.#host.drained(this);
    const block = this.#endBlock;
    if (block === null) return;
    this.#endBlock = null;
    this.#writeEnd(block);
  }

  /** Tells the handler that it is over; outside of every other call to it. */
  close(): void {
    const handler = this.#handler;
    this.#handler = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    try {
      handler?.closed();
    } catch (error) {
      this.#host.handlerFailed(this.#path, error);
    }
  }

  #refuse(): void {
    this.#over = true;
    this.lingers = true;
    this.#reader.stop();
  }

  #deliver(message: Buffer): void {
    try {
      this.#handler?.message(message);
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#host.handlerFailed(this.#path, error);
    this.end(GrpcStatus.internal, 'the handler of this call failed');
  }

  #headers(block: Buffer): void {
    this.#headersSent = true;
    const { output } = this.#host;
    output.frame(FrameType.headers, Flag.endHeaders, this.id, block.length);
    output.bytes(block);
  }

  #enqueue(first: Uint8Array, second: Uint8Array): void {
    this.queue ??= new SendQueue();
    this.queue.add(first);
    this.queue.add(second);
    const { sender } = this.#host;
    if (sender.added(this, first.length + second.length)) sender.pump();
    else this.#host.queuedTooMuch(this);
  }

  #endWith(block: Buffer): void {
    if (this.queue !== null && this.queue.bytes > 0) this.#endBlock = block;
    else this.#writeEnd(block);
  }

  #writeEnd(block: Buffer): void {
    const { output } = this.#host;
    output.frame(FrameType.headers, Flag.endHeaders | Flag.endStream, this.id, block.length);
    output.bytes(block);
    this.#headersSent = true;
    this.sent = true;
    this.#host.finished(this);
  }
}
