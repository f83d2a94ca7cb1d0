import { connect } from 'node:net';

const HEADER_END = Buffer.from('\r\n\r\n');
const EMPTY = Buffer.alloc(0);

/**
 * A keep-alive HTTP/1.1 connection that has one request at a time. It reads answers with a content-length only, which is all
 * that the workers of the benchmark send, and so takes little of the processor that it shares with what is measured.
 */
export class Http1Connection {
  #socket;
  #received = EMPTY;
  /** Bytes of the body still to come, -1 while the headers are. */
  #left = -1;
  #answer = null;
  #done = null;

  constructor(port, host) {
    this.#socket = connect({ port, host, noDelay: true });
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => this.#end({ status: 0, worker: '' }));
  }

  get usable() {
    return !this.#socket.destroyed;
  }

  /** Resolves when the connection is there; rejects when it is refused. */
  opened() {
    if (!this.#socket.connecting) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve);
      this.#socket.once('error', reject);
    });
  }

  /** Writes the parts of a request; `done` gets `{ status, worker }` once, with status 0 for no whole answer. */
  send(parts, done) {
    this.#done = done;
    if (!this.usable) {
      this.#end({ status: 0, worker: '' });
      return;
    }
    this.#socket.cork();
    for (const part of parts) this.#socket.write(part);
    this.#socket.uncork();
  }

  close() {
    this.#socket.destroy();
  }

  #read(chunk) {
    if (this.#left < 0) {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      const end = this.#received.indexOf(HEADER_END);
      if (end < 0) return;
      const head = this.#received.toString('latin1', 0, end + 2).toLowerCase();
      const length = Number(fieldOf(head, 'content-length') ?? Number.NaN);
      if (!Number.isInteger(length)) {
        this.#socket.destroy();
        return;
      }
      this.#answer = { status: Number(head.slice(9, 12)), worker: fieldOf(head, 'x-bench-worker') ?? '' };
      this.#left = length - (this.#received.length - end - HEADER_END.length);
      this.#received = EMPTY;
    } else {
      this.#left -= chunk.length;
    }
    if (this.#left === 0) this.#end(this.#answer);
    else if (this.#left < -1) this.#socket.destroy();
  }

  #end(answer) {
    const done = this.#done;
    this.#done = null;
    this.#answer = null;
    this.#left = -1;
    done?.(answer);
  }
}

function fieldOf(head, name) {
  const start = head.indexOf(`\r\n${name}:`);
  if (start < 0) return undefined;
  const value = start + name.length + 3;
  return head.slice(value, head.indexOf('\r\n', value)).trim();
}
