/** The calls of an Envoy, of one kind of request each: what is sent, and what has to come back. */
import {
  bodyRequest,
  checkRequest,
  headersRequest,
  IDENTIFIER,
  logEntry,
  logMessage,
  pickIdOf,
  ridBody,
} from './messages.mjs';

/** Conversations, each with its messages made beforehand. */
const KEYS = 256;
const BATCH_MS = 10;

export const EXT_PROC = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';
const CHECK = '/envoy.service.auth.v3.Authorization/Check';
const HEALTH = '/grpc.health.v1.Health/Check';
export const LOGS = '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs';

/** Of an empty message there is nothing but its prefix. */
const PREFIX_BYTES = 5;

/** The first message of a call, framed; of a unary one the only one. */
const KINDS = {
  ext_proc: { path: EXT_PROC, make: headersRequest },
  ext_authz: { path: CHECK, make: checkRequest },
  health: { path: HEALTH, make: () => Buffer.alloc(PREFIX_BYTES) },
};

let requests = 0;

/**
 * Constant fields of a gRPC request of Envoy.
 *
 * @param periodic whether an access log tells the ends of picks, as Envoy's initial metadata says
 */
export function fieldsOf(path, periodic) {
  const fields = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'picker'],
    ['te', 'trailers'],
    ['content-type', 'application/grpc'],
    ['x-envoy-internal', 'true'],
    ['x-forwarded-for', '127.0.0.1'],
  ];
  return periodic ? [...fields, ['x-smg-envoy', 'periodic=10']] : fields;
}

const LOG_FIELDS = fieldsOf(LOGS, false);

/**
 * Starts calls of a variant on a connection. `answered(call)` is called when the whole answer is there, `over(call, right)`
 * once when nothing is left of the call.
 *
 * @param variant of variants.mjs
 */
export function createCalls(variant) {
  const { ask, key, bodyBytes = 0, last = false } = variant;
  const { path, make } = KINDS[ask];
  const unary = ask !== 'ext_proc';
  const fields = fieldsOf(path, variant.log !== undefined);
  const firsts = [];
  const bodies = [];
  for (let i = 0; i < KEYS; i++) {
    firsts.push(make(key === 'header' ? { 'x-smg-routing-key': `known-${i}` } : {}));
    if (key === 'rid') bodies.push(bodyRequest(ridBody(bodyBytes, `known-${i}_t1`, last)));
  }
  const logs = new Logs(variant.log);

  const sink = {
    message(stream, bytes) {
      const call = stream.kept;
      call.answers += 1;
      if (bytes[0] === IMMEDIATE && !unary) call.refused = true;
      if (call.answers < call.wanted) {
        call.peer.send(stream, call.body);
        return;
      }
      logs.add(call.peer, bytes);
      call.answered(call);
      if (call.held || unary) return;
      if (variant.close !== 'reset') call.peer.halfClose(stream);
      if (variant.close !== 'graceful') {
        call.peer.reset(stream);
        call.over(call, !call.refused);
      }
    },
    over(stream, ended) {
      const call = stream.kept;
      call.over(call, ended && call.answers === call.wanted && !call.refused);
    },
  };

  return {
    /** @param held the stream stays open after its answer */
    start(peer, number, due, answered, over, held = false) {
      const body = key === 'rid' ? bodies[number % KEYS] : null;
      const call = {
        peer,
        due,
        body,
        wanted: body === null ? 1 : 2,
        answers: 0,
        refused: false,
        held,
        answered,
        over,
        stream: null,
      };
      const requestId = `4a5f0c6e-7f6e-4a3f-9d55-${(requests++).toString(16).padStart(12, '0')}`;
      // The callbacks come in later turns.
      call.stream = peer.open(fields, requestId, firsts[number % KEYS], unary, sink);
      call.stream.kept = call;
      return call;
    },
    /** Opens what a connection has besides calls. */
    prepare: (peer) => logs.open(peer),
    close: () => logs.close(),
  };
}

/** Tag of an `immediate_response`. */
export const IMMEDIATE = 0x3a;

/** The access-log stream of each connection: an entry for each pick, at once or several together. */
class Logs {
  #kind;
  #streams = new Map();
  #timer = null;

  /** @param kind `entries`, `batches`, or undefined for no log */
  constructor(kind) {
    this.#kind = kind;
  }

  open(peer) {
    if (this.#kind === undefined) return;
    const sink = { message: () => undefined, over: () => this.#streams.delete(peer) };
    // Without an entry, so that the stream is known before the first pick.
    const stream = peer.open(LOG_FIELDS, '', logMessage([], IDENTIFIER), false, sink);
    this.#streams.set(peer, { stream, entries: [] });
    if (this.#kind === 'batches') this.#timer ??= setInterval(() => this.#flush(), BATCH_MS);
  }

  add(peer, answer) {
    const log = this.#streams.get(peer);
    if (log === undefined) return;
    const pickId = pickIdOf(answer);
    if (pickId === '') return;
    if (this.#kind === 'entries') peer.send(log.stream, logMessage([logEntry(pickId)]));
    else log.entries.push(logEntry(pickId));
  }

  #flush() {
    for (const [peer, log] of this.#streams) {
      if (log.entries.length > 0) peer.send(log.stream, logMessage(log.entries));
      log.entries = [];
    }
  }

  close() {
    clearInterval(this.#timer);
    this.#flush();
  }
}
