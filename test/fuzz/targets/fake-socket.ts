import type { Socket } from 'node:net';

/** What a connection uses of a socket. It takes all at once, or nothing until {@link drain}. */
export class FakeSocket {
  readonly written: Uint8Array[] = [];
  readonly clogged: boolean;
  destroyed = false;
  writableEnded = false;
  writableLength = 0;
  bytesWritten = 0;
  #paused = false;

  constructor(clogged: boolean) {
    this.clogged = clogged;
  }

  /** This as the type that it stands for. */
  get socket(): Socket {
    return this as unknown as Socket;
  }

  write(bytes: Uint8Array): boolean {
    if (this.destroyed || this.writableEnded) throw new Error('written after the end');
    this.written.push(bytes);
    this.bytesWritten += bytes.length;
    if (this.clogged) this.writableLength += bytes.length;
    return !this.clogged;
  }

  /** False when there was nothing to drain. */
  drain(): boolean {
    const had = this.writableLength > 0;
    this.writableLength = 0;
    return had;
  }

  end(): void {
    this.writableEnded = true;
  }

  destroy(): void {
    this.destroyed = true;
  }

  cork(): void {}

  uncork(): void {}

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
  }

  isPaused(): boolean {
    return this.#paused;
  }
}
