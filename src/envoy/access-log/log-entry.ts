import type { FailedAttempt, RequestEnd } from '../../picker/request-end.ts';
import { canonicalAddress } from '../../workers/address.ts';
import {
  AUTHZ_NAMESPACE,
  DESTINATION_NAMESPACE,
  PICK_ID_KEY,
  PICKER_NAMESPACE,
  PROTOCOL_SERVED_KEY,
  RANK_KEY,
  SERVED_KEY,
  STAMP_HEADER,
  WORKER_TAG,
} from '../names.ts';
import { WireReader } from '../wire/wire-reader.ts';

/** `AccessLogType` of the entries that tell something. */
export const DOWNSTREAM_PERIODIC = 5;
export const DOWNSTREAM_END = 6;
export const UPSTREAM_END = 9;

/** Fields of an `HTTPAccessLogEntry`. */
const COMMON_PROPERTIES = 1;
const RESPONSE = 4;
/** Fields of `AccessLogCommon`. */
const START_TIME = 5;
const TIME_TO_FIRST_UPSTREAM_RX_BYTE = 9;
const TIME_TO_LAST_DOWNSTREAM_TX_BYTE = 12;
const UPSTREAM_REMOTE_ADDRESS = 13;
const RESPONSE_FLAGS = 16;
const METADATA = 17;
const CUSTOM_TAGS = 22;
const DURATION = 23;
const UPSTREAM_REQUEST_ATTEMPT_COUNT = 24;
const ACCESS_LOG_TYPE = 33;
/** Fields of `HTTPResponseProperties`. */
const RESPONSE_CODE = 1;
const RESPONSE_HEADERS = 4;
const RESPONSE_CODE_DETAILS = 6;
/** Fields of `ResponseFlags`. */
const UPSTREAM_REQUEST_TIMEOUT = 3;
const UPSTREAM_REMOTE_RESET = 5;
const UPSTREAM_CONNECTION_FAILURE = 6;
const UPSTREAM_CONNECTION_TERMINATION = 7;
const DOWNSTREAM_CONNECTION_TERMINATION = 15;
const UPSTREAM_RETRY_LIMIT_EXCEEDED = 16;
const UPSTREAM_PROTOCOL_ERROR = 24;
const DOWNSTREAM_REMOTE_RESET = 28;

const BROKEN_ATTEMPT = flags(
  UPSTREAM_CONNECTION_FAILURE,
  UPSTREAM_CONNECTION_TERMINATION,
  UPSTREAM_REMOTE_RESET,
  UPSTREAM_PROTOCOL_ERROR,
  UPSTREAM_REQUEST_TIMEOUT,
);
const CLIENT_LEFT = flags(DOWNSTREAM_CONNECTION_TERMINATION, DOWNSTREAM_REMOTE_RESET);
const RETRIES_USED_UP = flags(UPSTREAM_RETRY_LIMIT_EXCEEDED);

// One entry is read at a time: the readers of the levels serve all.
const entryReader = new WireReader();
const partReader = new WireReader();
const fieldReader = new WireReader();
const pairReader = new WireReader();
const structReader = new WireReader();
const valueReader = new WireReader();

/**
 * What an entry of the access log says of a pick (envoy 9.2), read where it lies. One object reads all entries, one after the
 * other. The generated code is the oracle of its tests.
 */
export class LogEntry {
  /** An `AccessLogType`. */
  type = 0;
  /** Of the answer, 0 before it has begun. */
  status = 0;
  /** Worker of the latest attempt, or the engine of its ranks: host metadata that the generated configuration adds as a tag. */
  workerId = '';
  /** Empty when the request was not picked by us (envoy 1 rule 7). */
  pickId = '';
  #bytes: Buffer = Buffer.alloc(0);
  #codeDetails = '';
  #attempts = 0;
  /** A bit for each flag, by the number of its field. */
  #flags = 0;
  /** Milliseconds; -1 where the entry does not tell. */
  #startMs = -1;
  #durationMs = -1;
  #lastByteMs = -1;
  #firstByteMs = -1;
  #upstreamIp = '';
  #upstreamPort = -1;
  #served = '';
  #protocolServed = '';
  #rank = '';
  #stamp = '';
  #authzPickId = '';

  /** Reads the `HTTPAccessLogEntry` `bytes[from, to)`; false when it is broken. */
  read(bytes: Buffer, from: number, to: number): boolean {
    this.#clear(bytes);
    const reader = entryReader.open(bytes, from, to);
    while (reader.next()) {
      if (reader.field === COMMON_PROPERTIES) {
        if (!this.#readCommon(reader.from, reader.to)) return false;
      } else if (reader.field === RESPONSE && !this.#readResponse(reader.from, reader.to)) return false;
    }
    if (this.pickId === '') this.pickId = this.#authzPickId;
    return !reader.broken;
  }

  /** Address of the latest attempt: the host Envoy chose, under our name or the protocol's, else the one it reached. */
  get servedAddress(): string {
    return this.#served || this.#protocolServed || this.#upstreamAddress;
  }

  /** A `DownstreamEnd` entry: the end of its request. */
  end(attemptsLogged: boolean): RequestEnd {
    return {
      pickId: this.pickId,
      workerId: this.workerId,
      servedAddress: this.servedAddress,
      rank: rankIn(this.#rank),
      status: this.status,
      codeDetails: this.#codeDetails,
      attempts: this.#attempts,
      durationMs: this.#duration,
      firstByteMs: this.#firstByteMs,
      retriesUsedUp: (this.#flags & RETRIES_USED_UP) !== 0,
      clientGone: this.#clientLeft,
      attemptsLogged,
    };
  }

  /** An `UpstreamEnd` entry of the router: an attempt that failed. */
  attempt(): FailedAttempt {
    return {
      workerId: this.workerId,
      address: this.#upstreamAddress,
      rank: rankIn(afterLast('@', this.#stamp)),
      status: this.status,
      broken: (this.#flags & BROKEN_ATTEMPT) !== 0,
    };
  }

  /** Milliseconds from the end of the request to `wallNow`; undefined when the entry does not say when it began. */
  lag(wallNow: number): number | undefined {
    return this.#startMs < 0 ? undefined : Math.max(0, wallNow - (this.#startMs + this.#duration));
  }

  get #duration(): number {
    if (this.#durationMs >= 0) return this.#durationMs;
    return Math.max(0, this.#lastByteMs);
  }

  get #upstreamAddress(): string {
    return this.#upstreamPort < 0 ? '' : canonicalAddress(this.#upstreamIp, this.#upstreamPort);
  }

  /** Envoy tells it by flag for a lost connection or stream, and by detail alone when no response had begun. */
  get #clientLeft(): boolean {
    const details = this.#codeDetails;
    return (
      (this.#flags & CLIENT_LEFT) !== 0 ||
      details.startsWith('downstream_remote_disconnect') ||
      details === 'http2.remote_reset' ||
      details === 'http3.remote_reset'
    );
  }

  #clear(bytes: Buffer): void {
    this.#bytes = bytes;
    this.type = 0;
    this.status = 0;
    this.workerId = '';
    this.pickId = '';
    this.#codeDetails = '';
    this.#attempts = 0;
    this.#flags = 0;
    this.#startMs = -1;
    this.#durationMs = -1;
    this.#lastByteMs = -1;
    this.#firstByteMs = -1;
    this.#upstreamIp = '';
    this.#upstreamPort = -1;
    this.#served = '';
    this.#protocolServed = '';
    this.#rank = '';
    this.#stamp = '';
    this.#authzPickId = '';
  }

  #readCommon(from: number, to: number): boolean {
    const reader = partReader.open(this.#bytes, from, to);
    while (reader.next()) {
      switch (reader.field) {
        case 0:
          if (reader.numberField === ACCESS_LOG_TYPE) this.type = reader.number;
          else if (reader.numberField === UPSTREAM_REQUEST_ATTEMPT_COUNT) this.#attempts = reader.number;
          break;
        case START_TIME:
          this.#startMs = this.#milliseconds(reader.from, reader.to);
          break;
        case TIME_TO_FIRST_UPSTREAM_RX_BYTE:
          this.#firstByteMs = this.#milliseconds(reader.from, reader.to);
          break;
        case TIME_TO_LAST_DOWNSTREAM_TX_BYTE:
          this.#lastByteMs = this.#milliseconds(reader.from, reader.to);
          break;
        case DURATION:
          this.#durationMs = this.#milliseconds(reader.from, reader.to);
          break;
        case UPSTREAM_REMOTE_ADDRESS:
          this.#readAddress(reader.from, reader.to);
          break;
        case RESPONSE_FLAGS:
          this.#readFlags(reader.from, reader.to);
          break;
        case METADATA:
          this.#readMetadata(reader.from, reader.to);
          break;
        case CUSTOM_TAGS:
          this.workerId = this.#valueOf(WORKER_TAG, reader.from, reader.to) ?? this.workerId;
          break;
      }
    }
    return !reader.broken;
  }

  #readResponse(from: number, to: number): boolean {
    const reader = partReader.open(this.#bytes, from, to);
    while (reader.next()) {
      if (reader.field === RESPONSE_CODE) {
        const code = fieldReader.open(this.#bytes, reader.from, reader.to);
        while (code.next()) if (code.numberField === 1) this.status = code.number;
      } else if (reader.field === RESPONSE_CODE_DETAILS) this.#codeDetails = reader.utf8();
      else if (reader.field === RESPONSE_HEADERS) {
        this.#stamp = this.#valueOf(STAMP_HEADER, reader.from, reader.to) ?? this.#stamp;
      }
    }
    return !reader.broken;
  }

  /** A `Duration` or `Timestamp`. */
  #milliseconds(from: number, to: number): number {
    let seconds = 0;
    let nanos = 0;
    const reader = fieldReader.open(this.#bytes, from, to);
    while (reader.next()) {
      if (reader.numberField === 1) seconds = reader.number;
      else if (reader.numberField === 2) nanos = reader.number;
    }
    return seconds * 1000 + nanos / 1e6;
  }

  /** An `Address` with a socket address and the number of a port. */
  #readAddress(from: number, to: number): void {
    const reader = fieldReader.open(this.#bytes, from, to);
    while (reader.next()) {
      if (reader.field !== 1) continue;
      const socket = pairReader.open(this.#bytes, reader.from, reader.to);
      while (socket.next()) {
        if (socket.field === 2) this.#upstreamIp = socket.latin1();
        else if (socket.numberField === 3) this.#upstreamPort = socket.number;
      }
    }
  }

  #readFlags(from: number, to: number): void {
    const reader = fieldReader.open(this.#bytes, from, to);
    while (reader.next()) {
      if (reader.numberField > 0 && reader.numberField < 31 && reader.number !== 0)
        this.#flags |= 1 << reader.numberField;
    }
  }

  /** `Metadata.filter_metadata`: the texts of our namespaces. */
  #readMetadata(from: number, to: number): void {
    const reader = fieldReader.open(this.#bytes, from, to);
    while (reader.next()) {
      if (reader.field !== 1) continue;
      const entry = pairReader.open(this.#bytes, reader.from, reader.to);
      let namespace = '';
      let structFrom = 0;
      let structTo = 0;
      while (entry.next()) {
        if (entry.field === 1) namespace = knownNamespace(entry);
        else if (entry.field === 2) {
          structFrom = entry.from;
          structTo = entry.to;
        }
      }
      if (namespace !== '') this.#readNamespace(namespace, structFrom, structTo);
    }
  }

  #readNamespace(namespace: string, from: number, to: number): void {
    const reader = structReader.open(this.#bytes, from, to);
    while (reader.next()) {
      if (reader.field !== 1) continue;
      if (namespace === PICKER_NAMESPACE) {
        this.pickId = this.#textOf(PICK_ID_KEY, reader) ?? this.pickId;
        this.#served = this.#textOf(SERVED_KEY, reader) ?? this.#served;
        this.#rank = this.#textOf(RANK_KEY, reader) ?? this.#rank;
      } else if (namespace === AUTHZ_NAMESPACE) {
        this.#authzPickId = this.#textOf(PICK_ID_KEY, reader) ?? this.#authzPickId;
      } else this.#protocolServed = this.#textOf(PROTOCOL_SERVED_KEY, reader) ?? this.#protocolServed;
    }
  }

  /** The text of a field of a struct, null when it is another field or no text. */
  #textOf(key: string, { from, to }: WireReader): string | null {
    const entry = pairReader.open(this.#bytes, from, to);
    let named = false;
    let text: string | null = null;
    while (entry.next()) {
      if (entry.field === 1) {
        named = entry.is(key);
        if (!named) return null;
      } else if (entry.field === 2) {
        const value = valueReader.open(this.#bytes, entry.from, entry.to);
        while (value.next()) if (value.field === 3) text = value.utf8();
      }
    }
    return named ? text : null;
  }

  /** The value of an entry of a map of texts, null when it has another key. */
  #valueOf(key: string, from: number, to: number): string | null {
    const entry = pairReader.open(this.#bytes, from, to);
    let named = false;
    let value = '';
    while (entry.next()) {
      if (entry.field === 1) named = entry.is(key);
      else if (entry.field === 2) value = entry.utf8();
    }
    return named ? value : null;
  }
}

function knownNamespace(entry: WireReader): string {
  if (entry.is(PICKER_NAMESPACE)) return PICKER_NAMESPACE;
  if (entry.is(AUTHZ_NAMESPACE)) return AUTHZ_NAMESPACE;
  return entry.is(DESTINATION_NAMESPACE) ? DESTINATION_NAMESPACE : '';
}

function flags(...fields: number[]): number {
  return fields.reduce((bits, field) => bits | (1 << field), 0);
}

/** At most four digits. */
function rankIn(text: string): number | null {
  if (text.length === 0 || text.length > 4) return null;
  let rank = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return null;
    rank = rank * 10 + digit;
  }
  return rank;
}

/** What follows the last `mark`; empty without one. */
function afterLast(mark: string, text: string): string {
  const at = text.lastIndexOf(mark);
  return at < 0 ? '' : text.slice(at + 1);
}
