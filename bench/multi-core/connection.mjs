import { EXT_PROC, fieldsOf, IMMEDIATE, LOGS } from '../transport/calls.mjs';
import { IDENTIFIER, logEntry, logMessage, pickIdOf } from '../transport/messages.mjs';
import { Peer } from '../transport/peer.mjs';

const FIELDS = fieldsOf(EXT_PROC, true);
const LOG_FIELDS = fieldsOf(LOGS, false);
const DESTINATION = Buffer.from('127.0.0.1:');
const FLUSH_MS = 10;

let requests = 0;

/**
 * A connection of an Envoy to one replica: streams of ext_proc, and the access log beside them, in which a request ends some
 * time after its pick.
 */
export class Connection {
  #peer;
  #log;
  #holdMs;
  #ends = [];
  #timer;

  /** @param holdMs what a worker would take for its answer */
  constructor(address, holdMs) {
    this.#peer = new Peer(address);
    this.#holdMs = holdMs;
  }

  async open() {
    await this.#peer.opened();
    const sink = { message: () => undefined, over: () => undefined };
    // Without an entry, so that the stream is known before the first pick.
    this.#log = this.#peer.open(LOG_FIELDS, '', logMessage([], IDENTIFIER), false, sink);
    this.#timer = setInterval(() => this.#flush(performance.now()), FLUSH_MS);
  }

  /**
   * One request. `answered(worker)` is called with the address of its worker, empty for none; `over(right)` once, at the end
   * of its stream.
   *
   * @throws Error when the connection was lost: no process may end while it is measured
   */
  ask(message, answered, over) {
    if (!this.#peer.usable) throw new Error('a process of the service is gone');
    const requestId = `4a5f0c6e-7f6e-4a3f-9d55-${(requests++).toString(16).padStart(12, '0')}`;
    let worker = '';
    this.#peer.open(FIELDS, requestId, message, false, {
      message: (stream, bytes) => {
        if (bytes[0] !== IMMEDIATE) worker = workerOf(bytes);
        const pickId = pickIdOf(bytes);
        if (pickId !== '') this.#ends.push({ at: performance.now() + this.#holdMs, pickId });
        answered(worker);
        this.#peer.halfClose(stream);
      },
      over: (_, ended) => over(ended && worker !== ''),
    });
  }

  /** Whether all ends were told. */
  get settled() {
    return this.#ends.length === 0;
  }

  close() {
    clearInterval(this.#timer);
    this.#peer.close();
  }

  #flush(now) {
    const waiting = this.#ends.findIndex(({ at }) => at > now);
    const due = this.#ends.splice(0, waiting < 0 ? this.#ends.length : waiting);
    if (due.length > 0) this.#peer.send(this.#log, logMessage(due.map(({ pickId }) => logEntry(pickId))));
  }
}

/** The first address in an answer is the first one of its destination list. */
function workerOf(answer) {
  const at = answer.indexOf(DESTINATION);
  if (at < 0) return '';
  let end = at + DESTINATION.length;
  while (answer[end] >= 0x30 && answer[end] <= 0x39) end += 1;
  return answer.toString('latin1', at, end);
}
