import { AccessLogType, type HTTPAccessLogEntry } from '../../gen/envoy/data/accesslog/v3/accesslog.ts';
import { StreamAccessLogsMessage, StreamAccessLogsResponse } from '../../gen/envoy/service/accesslog/v3/als.ts';
import { type Call, type CallHandler, GrpcStatus, type Method } from '../../transport/transport.ts';
import { ATTEMPT_LOG_NAME } from '../names.ts';
import { lagOf, pickIdOf, readAttempt, readEnd, servedAddressOf, workerIdOf } from './log-entry.ts';
import type { AccessLogObserver, RequestEndSink } from './request-end-sink.ts';

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
        const message = this.#decode(bytes, call);
        if (message === null) return;
        // Only the first message of a stream has it.
        const name = message.identifier?.logName;
        if (name !== undefined) attemptsLogged = name === ATTEMPT_LOG_NAME;
        for (const entry of message.logEntries?.value.logEntry ?? []) this.#tell(entry, attemptsLogged);
      },
      halfClosed: () => {
        call.send(StreamAccessLogsResponse.encode({}).finish());
        call.end();
      },
      closed: () => {
        this.#open.delete(call);
        this.#options.sink.logStreamClosed();
      },
    };
  }

  #decode(bytes: Buffer, call: Call): StreamAccessLogsMessage | null {
    try {
      return StreamAccessLogsMessage.decode(bytes);
    } catch {
      this.#options.observer.malformed();
      call.end(GrpcStatus.invalidArgument, 'not a StreamAccessLogsMessage');
      return null;
    }
  }

  #tell(entry: HTTPAccessLogEntry, attemptsLogged: boolean): void {
    const { sink, observer, now, wallNow } = this.#options;
    const common = entry.commonProperties;
    const type = common?.accessLogType;
    if (common !== undefined && type === AccessLogType.UpstreamEnd) {
      sink.attemptFailed(readAttempt(entry, common));
      return;
    }
    if (common === undefined || (type !== AccessLogType.DownstreamEnd && type !== AccessLogType.DownstreamPeriodic)) {
      observer.skipped('other');
      return;
    }

    const pickId = pickIdOf(common);
    if (pickId === '') {
      observer.skipped('no_pick');
      return;
    }

    if (type === AccessLogType.DownstreamPeriodic) {
      sink.alive(pickId, workerIdOf(common), servedAddressOf(common), entry.response?.responseCode ?? 0, now());
      return;
    }
    const lag = lagOf(common, wallNow());
    if (lag !== undefined) observer.lagged(lag);
    sink.ended(readEnd(pickId, entry, common, attemptsLogged), now());
  }
}
