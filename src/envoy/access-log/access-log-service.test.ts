import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeCall } from '../../../test/support/fake-call.ts';
import type { AccessLogCommon, HTTPAccessLogEntry } from '../../gen/envoy/data/accesslog/v3/accesslog.ts';
import { AccessLogType } from '../../gen/envoy/data/accesslog/v3/accesslog.ts';
import { StreamAccessLogsMessage } from '../../gen/envoy/service/accesslog/v3/als.ts';
import type { FailedAttempt, RequestEnd } from '../../picker/request-end.ts';
import { GrpcStatus } from '../../transport/transport.ts';
import { AccessLogService } from './access-log-service.ts';
import type { AccessLogObserver, RequestEndSink, SkippedEntry } from './request-end-sink.ts';

const NOW = 5_000;
const WALL_NOW = 1_800_000_010_250;

class Recorder implements RequestEndSink, AccessLogObserver {
  readonly ends: RequestEnd[] = [];
  readonly lives: unknown[] = [];
  readonly attempts: FailedAttempt[] = [];
  readonly skips: SkippedEntry[] = [];
  readonly lags: number[] = [];
  streams = 0;
  bad = 0;

  ended(end: RequestEnd, now: number): void {
    expect(now).toBe(NOW);
    this.ends.push(end);
  }
  attemptFailed(attempt: FailedAttempt): void {
    this.attempts.push(attempt);
  }
  alive(...args: [string, string, string, number, number]): void {
    this.lives.push(args);
  }
  logStreamOpened(): void {
    this.streams += 1;
  }
  logStreamClosed(): void {
    this.streams -= 1;
  }
  skipped(entry: SkippedEntry): void {
    this.skips.push(entry);
  }
  malformed(): void {
    this.bad += 1;
  }
  lagged(ms: number): void {
    this.lags.push(ms);
  }
}

let seen: Recorder;
let service: AccessLogService;

beforeEach(() => {
  seen = new Recorder();
  service = new AccessLogService({ sink: seen, observer: seen, now: () => NOW, wallNow: () => WALL_NOW });
});

describe('envoy 9.2 content of an end entry', () => {
  it('carries the whole end of a retried request', () => {
    send(
      entry(
        {
          metadata: { filterMetadata: { picker: { pick_id: 'p-1', served: '10.0.0.3:8000' } } },
          customTags: { worker: 'http://c:8000', other: 'x' },
          upstreamRequestAttemptCount: 3,
          duration: { seconds: 2n, nanos: 250_000_000 },
          timeToFirstUpstreamRxByte: { seconds: 0n, nanos: 1_500_000 },
        },
        { responseCode: 200, responseCodeDetails: 'via_upstream' },
      ),
    );

    expect(seen.ends).toEqual([
      {
        pickId: 'p-1',
        workerId: 'http://c:8000',
        rank: null,
        servedAddress: '10.0.0.3:8000',
        status: 200,
        codeDetails: 'via_upstream',
        attempts: 3,
        durationMs: 2250,
        firstByteMs: 1.5,
        retriesUsedUp: false,
        clientGone: false,
        attemptsLogged: false,
      },
    ]);
  });

  it.each([
    ['3', 3],
    ['0', 0],
    ['', null],
    ['@3', null],
    ['x', null],
  ])('metadata picker / rank %j is rank %s (decisions 46)', (rank, told) => {
    send(entry({ metadata: { filterMetadata: { picker: { pick_id: 'p-1', rank } } } }));

    expect(seen.ends).toMatchObject([{ rank: told }]);
  });

  it('says nothing of what the entry does not tell', () => {
    send(entry({}));

    expect(seen.ends).toEqual([
      {
        pickId: 'p-1',
        workerId: '',
        rank: null,
        servedAddress: '',
        status: 0,
        codeDetails: '',
        attempts: 0,
        durationMs: 0,
        firstByteMs: -1,
        retriesUsedUp: false,
        clientGone: false,
        attemptsLogged: false,
      },
    ]);
  });

  it.each([
    ['connection lost in mid-stream', { downstreamConnectionTermination: true }, '', true],
    ['HTTP/2 stream reset', { downstreamRemoteReset: true }, '', true],
    ['left before the response', {}, 'downstream_remote_disconnect', true],
    ['left during the back-off over HTTP/2', {}, 'http2.remote_reset', true],
    ['left over HTTP/3', {}, 'http3.remote_reset', true],
    [
      'worker connection lost',
      { upstreamConnectionTermination: true },
      'upstream_reset_before_response_started',
      false,
    ],
    ['worker reset', { upstreamRemoteReset: true }, 'via_upstream', false],
    ['no worker', { noHealthyUpstream: true }, 'no_healthy_upstream', false],
    ['retries used up', { upstreamRetryLimitExceeded: true }, 'via_upstream', false],
    ['all well', {}, 'via_upstream', false],
  ])('client gone: %s', (_, responseFlags, responseCodeDetails, expected) => {
    send(entry({ responseFlags }, { responseCodeDetails }));

    expect(seen.ends[0]?.clientGone).toBe(expected);
  });

  it.each([true, false])('retries used up: %s (URX)', (upstreamRetryLimitExceeded) => {
    send(entry({ responseFlags: { upstreamRetryLimitExceeded } }));

    expect(seen.ends[0]?.retriesUsedUp).toBe(upstreamRetryLimitExceeded);
  });

  it('takes the last byte to the client as duration where an older Envoy gives no other', () => {
    send(entry({ timeToLastDownstreamTxByte: { seconds: 1n, nanos: 0 } }));

    expect(seen.ends[0]?.durationMs).toBe(1000);
  });
});

describe('envoy 6.7 served host', () => {
  const ours = { served: '10.0.0.1:1' };
  const protocols = { 'x-gateway-destination-endpoint-served': '10.0.0.2:2' };

  it.each([
    ['our key', { picker: ours, 'envoy.lb': protocols }, '10.0.0.4', '10.0.0.1:1'],
    ["the protocol's key", { 'envoy.lb': protocols }, '10.0.0.4', '10.0.0.2:2'],
    ['the upstream address', {}, '10.0.0.4', '10.0.0.4:8000'],
    ['an IPv6 upstream address, canonical', {}, 'FD00:0::1', '[fd00::1]:8000'],
    ['a value that is no text', { picker: { served: 7 } }, '10.0.0.4', '10.0.0.4:8000'],
  ])('from %s', (_, namespaces: Record<string, object>, address, expected) => {
    send(
      entry({
        metadata: { filterMetadata: { ...namespaces, picker: { pick_id: 'p-1', ...namespaces['picker'] } } },
        upstreamRemoteAddress: socket(address),
      }),
    );

    expect(seen.ends[0]?.servedAddress).toBe(expected);
  });

  it('stays empty for an upstream that is no socket', () => {
    send(entry({ upstreamRemoteAddress: { address: { $case: 'pipe', value: { path: '/run/w' } } } }));

    expect(seen.ends[0]?.servedAddress).toBe('');
  });
});

describe('envoy 9.4 and 9.5 kinds of entries', () => {
  it('a periodic entry is a proof of life, not an end', () => {
    send(
      entry({
        accessLogType: AccessLogType.DownstreamPeriodic,
        customTags: { worker: 'w' },
        upstreamRemoteAddress: socket('10.0.0.4'),
      }),
    );

    expect(seen.lives).toEqual([['p-1', 'w', '10.0.0.4:8000', 0, NOW]]);
    expect(seen.ends).toEqual([]);
  });

  it.each([
    ['DownstreamStart', AccessLogType.DownstreamStart],
    ['UpstreamPoolReady', AccessLogType.UpstreamPoolReady],
    ['NotSet', AccessLogType.NotSet],
  ])('%s is of no interest', (_, accessLogType) => {
    send(entry({ accessLogType }));

    expect(seen.skips).toEqual(['other']);
    expect(seen.ends).toEqual([]);
    expect(seen.lives).toEqual([]);
  });

  it.each([
    ['no metadata', undefined],
    ['a foreign namespace', { filterMetadata: { other: { pick_id: 'p-1' } } }],
    ['an id that is no text', { filterMetadata: { picker: { pick_id: 1 } } }],
  ])('an end with %s is counted as not picked', (_, metadata) => {
    send(entry({ metadata }));

    expect(seen.skips).toEqual(['no_pick']);
    expect(seen.ends).toEqual([]);
  });

  it('envoy 11.2: the pick of a check stands in the namespace of its filter', () => {
    send(entry({ metadata: { filterMetadata: { 'envoy.filters.http.ext_authz': { pick_id: 'p-7' } } } }));

    expect(seen.ends).toMatchObject([{ pickId: 'p-7' }]);
  });

  it('reads all entries of a message, and messages without any', () => {
    const call = open();
    call.receive(message([entry({}), { response: {} }, entry({})]));
    call.receive(StreamAccessLogsMessage.encode({ identifier: { logName: 'picker' } }).finish());

    expect(seen.ends).toHaveLength(2);
    expect(seen.skips).toEqual(['other']);
  });

  it.each([
    ['after its end', 250, 250],
    ['of a clock behind ours as it is', 60_000, 60_000],
    ['never below zero when clocks disagree', -400, 0],
  ])('measures the lag %s', (_, behindMs, expected) => {
    const startMs = WALL_NOW - behindMs - 2000;
    const startTime = { seconds: BigInt(Math.floor(startMs / 1000)), nanos: (startMs % 1000) * 1e6 };
    send(entry({ startTime, duration: { seconds: 2n, nanos: 0 } }));

    expect(seen.lags).toEqual([expected]);
  });
});

describe('attempts, as the router logs them', () => {
  const tried = (common: AccessLogCommon, responseCode?: number): HTTPAccessLogEntry => ({
    commonProperties: {
      accessLogType: AccessLogType.UpstreamEnd,
      customTags: { worker: 'http://a:8000' },
      upstreamRemoteAddress: socket('10.0.0.4'),
      ...common,
    },
    ...(responseCode === undefined ? {} : { response: { responseCode } }),
  });

  it('tell the worker and what it answered', () => {
    send(tried({}, 503));

    expect(seen.attempts).toEqual([
      { workerId: 'http://a:8000', address: '10.0.0.4:8000', rank: null, status: 503, broken: false },
    ]);
    expect([seen.ends, seen.skips]).toEqual([[], []]);
  });

  it.each([
    ['http://a:8000@1', 1],
    ['name@x@12', 12],
    ['9f86d081884c7d65@0', 0],
    ['http://a:8000', null],
    ['', null],
  ])('with stamp %j it was rank %s', (stamp, rank) => {
    const response = { responseCode: 503, responseHeaders: { 'x-smg-routed-worker-id': stamp } };
    send({ ...tried({}), response });

    expect(seen.attempts).toMatchObject([{ workerId: 'http://a:8000', rank }]);
  });

  it.each([
    ['no connection', { upstreamConnectionFailure: true }, true],
    ['connection lost', { upstreamConnectionTermination: true }, true],
    ['reset', { upstreamRemoteReset: true }, true],
    ['no HTTP', { upstreamProtocolError: true }, true],
    ['time of the attempt over', { upstreamRequestTimeout: true }, true],
    ["Envoy's own limit", { upstreamOverflow: true }, false],
    ['no worker', { noHealthyUpstream: true }, false],
    ['given up', {}, false],
  ])('%s: broken %s', (_, responseFlags, broken) => {
    send(tried({ responseFlags }));

    expect(seen.attempts).toMatchObject([{ status: 0, broken }]);
  });

  it.each([
    ['picker-attempts', true],
    ['picker', false],
    ['', false],
  ])('a log named "%s" promises them: %s, for all entries of its stream', (logName, promised) => {
    const call = open();
    const end = { $case: 'httpLogs' as const, value: { logEntry: [entry({})] } };
    call.receive(StreamAccessLogsMessage.encode({ identifier: { logName }, logEntries: end }).finish());
    call.receive(message([entry({})]));
    send(entry({}));

    expect(seen.ends.map(({ attemptsLogged }) => attemptsLogged)).toEqual([promised, promised, false]);
  });
});

describe('log streams', () => {
  it('are counted while they are open, however they end', () => {
    const [first, second] = [open(), open()];
    expect(seen.streams).toBe(2);

    first.leave();
    expect(seen.streams).toBe(1);

    second.halfClose();
    expect(seen.streams).toBe(0);
    expect(second.status).toBe(GrpcStatus.ok);
    expect(second.sent).toHaveLength(1);
  });

  it('close ends the open ones', () => {
    const call = open();
    service.close();

    expect(call.status).toBe(GrpcStatus.ok);
    expect(seen.streams).toBe(0);
  });

  it('a message that is no protobuf ends its stream, counted', () => {
    const call = open();
    call.receive(Buffer.from([0x0a, 0xff]));

    expect(call.status).toBe(GrpcStatus.invalidArgument);
    expect(seen.bad).toBe(1);
    expect(seen.streams).toBe(0);
  });

  it('no bytes make it throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const call = open();
        call.receive(bytes);
        call.leave();
      }),
    );
    expect(seen.streams).toBe(0);
  });
});

function open(): FakeCall {
  return new FakeCall(service.methods[0]!);
}

function send(...entries: HTTPAccessLogEntry[]): void {
  open().receive(message(entries));
}

function message(logEntry: HTTPAccessLogEntry[]): Uint8Array {
  return StreamAccessLogsMessage.encode({ logEntries: { $case: 'httpLogs', value: { logEntry } } }).finish();
}

function entry(common: AccessLogCommon, response?: HTTPAccessLogEntry['response']): HTTPAccessLogEntry {
  return {
    commonProperties: {
      accessLogType: AccessLogType.DownstreamEnd,
      metadata: { filterMetadata: { picker: { pick_id: 'p-1' } } },
      ...common,
    },
    response,
  };
}

function socket(address: string): AccessLogCommon['upstreamRemoteAddress'] {
  return {
    address: {
      $case: 'socketAddress',
      value: { address, portSpecifier: { $case: 'portValue', value: 8000 } },
    },
  };
}
