import type { ServerDuplexStream } from '@grpc/grpc-js';
import { type Call, type CallHandler, GrpcStatus } from './transport.ts';

export type ByteStream = ServerDuplexStream<Buffer, Uint8Array>;

/** One call on top of a grpc-js stream. */
export class GrpcJsCall implements Call {
  readonly #stream: ByteStream;
  /** True once no message goes out any more, nor comes in: ended by us, or gone. */
  #over = false;

  constructor(stream: ByteStream) {
    this.#stream = stream;
  }

  metadata(name: string): string | undefined {
    const value = this.#stream.metadata.get(name)[0];
    return typeof value === 'string' ? value : undefined;
  }

  send(message: Uint8Array): void {
    if (!this.#over) this.#stream.write(message);
  }

  /** The library takes new memory for each message. */
  release(): void {}

  end(status: GrpcStatus = GrpcStatus.ok, details = ''): void {
    if (this.#over) return;
    this.#over = true;
    if (status === GrpcStatus.ok) this.#stream.end();
    // The way of grpc-js to end with a status; messages written before still go out.
    else this.#stream.emit('error', { code: status, details });
  }

  /**
   * Feeds the handler until the call is over. `close` is the only event that grpc-js emits exactly once in every case:
   * `end` stays away on a reset, `cancelled` on a clean end (envoy 3.3).
   */
  attach(handler: CallHandler, onThrow: (error: unknown) => void, onClosed: () => void): void {
    this.#stream.on('data', (bytes: Buffer) => {
      if (this.#over) return;
      try {
        handler.message(bytes);
      } catch (error) {
        this.#failed(error, onThrow);
      }
    });
    this.#stream.on('end', () => {
      if (this.#over) return;
      try {
        handler.halfClosed();
      } catch (error) {
        this.#failed(error, onThrow);
      }
    });
    this.#stream.on('close', () => {
      this.#over = true;
      try {
        handler.closed();
      } catch (error) {
        onThrow(error);
      }
      onClosed();
    });
  }

  #failed(error: unknown, onThrow: (error: unknown) => void): void {
    onThrow(error);
    this.end(GrpcStatus.internal, 'the handler of this call failed');
  }
}
