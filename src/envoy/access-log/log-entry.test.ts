import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Metadata } from '../../gen/envoy/config/core/v3/base.ts';
import { HTTPAccessLogEntry, type ResponseFlags } from '../../gen/envoy/data/accesslog/v3/accesslog.ts';
import { canonicalAddress } from '../../workers/address.ts';
import { LogEntry } from './log-entry.ts';

const text = fc.string({ maxLength: 12 });
const rank = fc.oneof(
  text,
  fc.nat(20_000).map(String),
  fc.nat(12).map((digit) => `0${digit}`),
);
const seconds = fc.integer({ min: 0, max: 2_000_000_000 }).map(BigInt);
const time = fc.record({ seconds, nanos: fc.nat(999_999_999) });
const value = fc.oneof(text, fc.boolean(), fc.constant(null), fc.array(text, { maxLength: 2 }));
const ofPicker = fc.record(
  { pick_id: fc.oneof(text, value), served: text, rank, other: value },
  { requiredKeys: [], noNullPrototype: true },
);
const metadata = fc.record({
  filterMetadata: fc.record(
    {
      picker: ofPicker,
      'envoy.filters.http.ext_authz': ofPicker,
      'envoy.lb': fc.record(
        { 'x-gateway-destination-endpoint-served': text },
        { requiredKeys: [], noNullPrototype: true },
      ),
      another: ofPicker,
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
}) as fc.Arbitrary<Metadata>;
const flag = fc.boolean();
const flags: fc.Arbitrary<ResponseFlags> = fc.record(
  {
    noHealthyUpstream: flag,
    upstreamRequestTimeout: flag,
    localReset: flag,
    upstreamRemoteReset: flag,
    upstreamConnectionFailure: flag,
    upstreamConnectionTermination: flag,
    upstreamOverflow: flag,
    noRouteFound: flag,
    downstreamConnectionTermination: flag,
    upstreamRetryLimitExceeded: flag,
    streamIdleTimeout: flag,
    downstreamProtocolError: flag,
    durationTimeout: flag,
    upstreamProtocolError: flag,
    noClusterFound: flag,
    downstreamRemoteReset: flag,
  },
  { requiredKeys: [] },
);
const address = fc.oneof(
  fc.record({ address: fc.oneof(fc.ipV4(), fc.ipV6(), text), port: fc.nat(65_535) }).map(({ address: ip, port }) => ({
    address: {
      $case: 'socketAddress' as const,
      value: { address: ip, portSpecifier: { $case: 'portValue' as const, value: port } },
    },
  })),
  fc.constant({}),
);
const tags = fc.dictionary(fc.oneof(fc.constant('worker'), text), text, { maxKeys: 3, noNullPrototype: true });
const common = fc.record(
  {
    startTime: time,
    timeToFirstUpstreamRxByte: time,
    timeToLastDownstreamTxByte: time,
    duration: time,
    upstreamRemoteAddress: address,
    upstreamCluster: text,
    responseFlags: flags,
    metadata,
    routeName: text,
    customTags: tags,
    upstreamRequestAttemptCount: fc.nat(9),
    streamId: text,
    intermediateLogEntry: fc.boolean(),
    accessLogType: fc.nat(13) as fc.Arbitrary<0>,
  },
  { requiredKeys: [] },
);
const details = fc.oneof(
  text,
  fc.constantFrom('via_upstream', 'http2.remote_reset', 'downstream_remote_disconnect{x}'),
);
const stamps = fc.dictionary(
  fc.constantFrom('x-smg-routed-worker-id', 'server'),
  rank.map((end) => `http://a@${end}`),
  {
    noNullPrototype: true,
  },
);
const entry: fc.Arbitrary<HTTPAccessLogEntry> = fc.record(
  {
    commonProperties: common,
    request: fc.record({ path: text, requestId: text }),
    response: fc.record(
      { responseCode: fc.nat(599), responseHeaders: stamps, responseCodeDetails: details },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

/** What the generated code reads of an entry, in the words of the picker. */
function byOracle(bytes: Buffer) {
  const { commonProperties, response } = HTTPAccessLogEntry.decode(bytes);
  const all = commonProperties?.metadata?.filterMetadata;
  const textOf = (namespace: string, key: string): string => {
    const found: unknown = all?.[namespace]?.[key];
    return typeof found === 'string' ? found : '';
  };
  const ms = (at: { seconds?: bigint | undefined; nanos?: number | undefined } | undefined, absent: number): number =>
    at === undefined ? absent : Number(at.seconds ?? 0n) * 1000 + (at.nanos ?? 0) / 1e6;
  const remote = commonProperties?.upstreamRemoteAddress?.address;
  const socket = remote?.$case === 'socketAddress' ? remote.value : undefined;
  const port = socket?.portSpecifier?.$case === 'portValue' ? socket.portSpecifier.value : undefined;
  const upstream = port === undefined ? '' : canonicalAddress(socket?.address ?? '', port);
  const told = commonProperties?.responseFlags;
  const code = response?.responseCodeDetails ?? '';
  const durationMs = ms(commonProperties?.duration ?? commonProperties?.timeToLastDownstreamTxByte, 0);
  const rankIn = (digits: string): number | null => (/^[0-9]{1,4}$/.test(digits) ? Number(digits) : null);
  const stamp = response?.responseHeaders?.['x-smg-routed-worker-id'] ?? '';
  const status = response?.responseCode ?? 0;
  const workerId = commonProperties?.customTags?.['worker'] ?? '';
  return {
    type: commonProperties?.accessLogType ?? 0,
    lag:
      commonProperties?.startTime === undefined
        ? undefined
        : Math.max(0, 2e12 - (ms(commonProperties.startTime, 0) + durationMs)),
    end: {
      pickId: textOf('picker', 'pick_id') || textOf('envoy.filters.http.ext_authz', 'pick_id'),
      workerId,
      servedAddress:
        textOf('picker', 'served') || textOf('envoy.lb', 'x-gateway-destination-endpoint-served') || upstream,
      rank: rankIn(textOf('picker', 'rank')),
      status,
      codeDetails: code,
      attempts: commonProperties?.upstreamRequestAttemptCount ?? 0,
      durationMs,
      firstByteMs: ms(commonProperties?.timeToFirstUpstreamRxByte, -1),
      retriesUsedUp: told?.upstreamRetryLimitExceeded === true,
      clientGone:
        told?.downstreamConnectionTermination === true ||
        told?.downstreamRemoteReset === true ||
        code.startsWith('downstream_remote_disconnect') ||
        code === 'http2.remote_reset',
      attemptsLogged: true,
    },
    attempt: {
      workerId,
      address: upstream,
      rank: stamp.includes('@') ? rankIn(stamp.slice(stamp.lastIndexOf('@') + 1)) : null,
      status,
      broken:
        told?.upstreamConnectionFailure === true ||
        told?.upstreamConnectionTermination === true ||
        told?.upstreamRemoteReset === true ||
        told?.upstreamProtocolError === true ||
        told?.upstreamRequestTimeout === true,
    },
  };
}

describe('an entry of the access log (envoy 9.2)', () => {
  const read = new LogEntry();

  it('is read as the generated code reads it, by an object that has read others', () => {
    fc.assert(
      fc.property(entry, (given) => {
        const bytes = Buffer.from(HTTPAccessLogEntry.encode(given).finish());

        expect(read.read(bytes, 0, bytes.length)).toBe(true);
        expect({ type: read.type, lag: read.lag(2e12), end: read.end(true), attempt: read.attempt() }).toEqual(
          byOracle(bytes),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(50), (given, from) => {
        const bytes = Buffer.from(given);
        read.read(bytes, Math.min(from, bytes.length), bytes.length);
        read.end(false);
        read.attempt();
      }),
      { numRuns: 1000 },
    );
  });
});
