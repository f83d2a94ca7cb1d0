import { type Call, type CallHandler, GrpcStatus, type Method } from '../../transport/transport.ts';
import { ATTEMPT_LOG_NAME } from '../names.ts';
import { WireReader } from '../wire/wire-reader.ts';
import { DOWNSTREAM_END, DOWNSTREAM_PERIODIC, LogEntry, UPSTREAM_END } from './log-entry.ts';
import type { AccessLogObserver, RequestEndSink } from './request-end-sink.ts';

/** Fields of a `StreamAccessLogsMessage` and of what is in it. */
const IDENTIFIER = 1;
const LOG_NAME = 2;
const HTTP_LOGS = 2;
const LOG_ENTRY = 1;
const EMPTY_RESPONSE = Buffer.alloc(0);

// One message is read at a time.
const messageReader = new WireReader();
const listReader = new WireReader();

export interface AccessLogOptions {
  readonly sink: RequestEndSink;
  readonly observer: AccessLogObserver;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Milliseconds since 1970, the clock that Envoy stamps its entries with. */
  readonly wallNow: () => number;
}

/**
 * `envoy.service.accesslog.v3.AccessLogService`: Envoy reports here how picked requests end and that long ones still
 * live (envoy 9). Each Envoy thread holds one stream for each of its loggers for as long as it runs.
 */
export class AccessLogService {
  readonly methods: readonly Method[];
  readonly #options: AccessLogOptions;
  readonly #open = new Set<Call>();
  readonly #entry = new LogEntry();

  constructor(options: AccessLogOptions) {
    this.#options = options;
    this.methods = [
      {
        path: '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs',
        open: (call) => this.#accept(call),
      },
    ];
  }

  /** Ends the streams that are open. Entries of requests that end later go to another replica, or are lost. */
  close(): void {
    for (const call of this.#open) call.end();
  }

  #accept(call: Call): CallHandler {
    this.#open.add(call);
    this.#options.sink.logStreamOpened();
    let attemptsLogged = false;
    return {
      message: (bytes) => {
        const read = this.#read(bytes, attemptsLogged);
        if (read !== null) attemptsLogged = read;
        else {
          this.#options.observer.malformed();
          call.end(GrpcStatus.invalidArgument, 'not a StreamAccessLogsMessage');
        }
      },
      halfClosed: () => {
        call.send(EMPTY_RESPONSE);
        call.end();
      },
      closed: () => {
        this.#open.delete(call);
        this.#options.sink.logStreamClosed();
      },
    };
  }

  /**
   * One `StreamAccessLogsMessage`. Answers whether failed attempts are logged, too, which only the first message of a stream
   * says; null when it is broken.
   */
  #read(bytes: Buffer, before: boolean): boolean | null {
    let attemptsLogged = before;
    const reader = messageReader.open(bytes, 0, bytes.length);
    while (reader.next()) {
      if (reader.field === IDENTIFIER) {
        const identifier = listReader.open(bytes, reader.from, reader.to);
        while (identifier.next()) if (identifier.field === LOG_NAME) attemptsLogged = identifier.is(ATTEMPT_LOG_NAME);
      } else if (reader.field === HTTP_LOGS) {
        const list = listReader.open(bytes, reader.from, reader.to);
        while (list.next()) {
          if (list.field !== LOG_ENTRY) continue;
          if (!this.#entry.read(bytes, list.from, list.to)) return null;
          this.#tell(this.#entry, attemptsLogged);
        }
        if (list.broken) return null;
      }
    }
    return reader.broken ? null : attemptsLogged;
  }

  #tell(entry: LogEntry, attemptsLogged: boolean): void {
    const { sink, observer, now, wallNow } = this.#options;
    const { type, pickId } = entry;
    if (type === UPSTREAM_END) {
      sink.attemptFailed(entry.attempt());
    } else if (type !== DOWNSTREAM_END && type !== DOWNSTREAM_PERIODIC) {
      observer.skipped('other');
    } else if (pickId === '') {
      observer.skipped('no_pick');
    } else if (type === DOWNSTREAM_PERIODIC) {
      sink.alive(pickId, entry.workerId, entry.servedAddress, entry.status, now());
    } else {
      const lag = entry.lag(wallNow());
      if (lag !== undefined) observer.lagged(lag);
      sink.ended(entry.end(attemptsLogged), now());
    }
  }
}
