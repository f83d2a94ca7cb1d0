/** The side of a socket that a connection writes to: counts writes, takes everything at once. */
export class FakeSocket {
  writes = 0;
  bytes = 0;
  writableLength = 0;
  writableNeedDrain = false;
  destroyed = false;

  write(part) {
    this.writes += 1;
    this.bytes += part.length;
    return true;
  }

  cork() {}
  uncork() {}
  pause() {}
  resume() {}
  end() {}
  destroy() {
    this.destroyed = true;
  }

  isPaused() {
    return false;
  }

  on() {
    return this;
  }

  once() {
    return this;
  }

  off() {
    return this;
  }
}
