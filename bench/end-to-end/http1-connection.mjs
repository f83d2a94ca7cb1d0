import { connect } from 'node:net';

const HEADER_END = Buffer.from('\r\n\r\n');
const EMPTY = Buffer.alloc(0);
/** End of a chunked body without trailers. No event of a worker holds it. */
const LAST_CHUNK = '\r\n0\r\n\r\n';

/**
 * A keep-alive HTTP/1.1 connection that has one request at a time. It looks at lengths and at the end of chunked answers only,
 * and so takes little of the processor that it shares with what is measured.
 */
export class Http1Connection {
  #socket;
  #received = EMPTY;
  /** Bytes of the body still to come, -1 while the headers are. */
  #left = -1;
  /** The last characters of a chunked answer, null of others. */
  #tail = null;
  #answer = null;
  #done = null;
  #stopAtBody = false;

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

  /**
   * Writes the parts of a request; `done` gets `{ status, worker }` once, with status 0 for no whole answer.
   *
   * @param stopAtBody leave when the answer begins
   */
  send(parts, done, stopAtBody = false) {
    this.#done = done;
    this.#stopAtBody = stopAtBody;
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
      const chunked = fieldOf(head, 'transfer-encoding') === 'chunked';
      const length = chunked ? Number.POSITIVE_INFINITY : Number(fieldOf(head, 'content-length') ?? Number.NaN);
      if (Number.isNaN(length) || this.#stopAtBody) {
        this.#socket.destroy();
        return;
      }
      this.#answer = { status: Number(head.slice(9, 12)), worker: fieldOf(head, 'x-bench-worker') ?? '' };
      const begun = this.#received.length - end - HEADER_END.length;
      this.#left = length - begun;
      // The line feeds before the body count, for one that is empty.
      if (chunked) this.#tail = this.#received.toString('latin1', Math.max(end + 2, this.#received.length - 7));
      this.#received = EMPTY;
    } else {
      this.#left -= chunk.length;
      if (this.#tail !== null)
        this.#tail = (this.#tail + chunk.toString('latin1', Math.max(0, chunk.length - 7))).slice(-7);
    }
    if (this.#left === 0 || this.#tail === LAST_CHUNK) this.#end(this.#answer);
    else if (this.#left < -1) this.#socket.destroy();
  }

  #end(answer) {
    const done = this.#done;
    this.#done = null;
    this.#answer = null;
    this.#left = -1;
    this.#tail = null;
    done?.(answer);
  }
}

function fieldOf(head, name) {
  const start = head.indexOf(`\r\n${name}:`);
  if (start < 0) return undefined;
  const value = start + name.length + 3;
  return head.slice(value, head.indexOf('\r\n', value)).trim();
}
