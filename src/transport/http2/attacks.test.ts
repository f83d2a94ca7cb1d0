import { describe, expect, it } from 'vitest';
import { grpcHeaders, headerBlock, settingsPayload, uint32 } from '../../../test/support/raw-http2.ts';
import { until } from '../peers.suite.ts';
import { attackedSetup, flood, HOLD, heldBytes, MIB, message, SHORT } from './attacked.suite.ts';
import { ErrorCode, Flag, FrameType, MAX_31_BITS } from './codes.ts';
import { rawFrame } from './hpack/raw-frames.suite.ts';
import { DEFAULT_LIMITS, type LimitName } from './limits.ts';

const NONE: Buffer = Buffer.alloc(0);
const { endHeaders, endStream, ack, padded } = Flag;
const block = grpcHeaders(HOLD);
const streamOf = (index: number): number => index * 2 - 1;
const frame = (type: number, flags: number, streamId: number, payload = NONE): Buffer =>
  rawFrame(type, flags, streamId, payload);
const begin = (index: number, flags = 0): Buffer =>
  frame(FrameType.headers, endHeaders | flags, streamOf(index), block);
const then =
  (flags: number, ...after: ((streamId: number) => Buffer)[]) =>
  (index: number): Buffer =>
    Buffer.concat([begin(index, flags), ...after.map((make) => make(streamOf(index)))]);
const onStream =
  (type: number, flags: number, payload = NONE) =>
  (streamId: number): Buffer =>
    frame(type, flags, streamId, payload);
const again = (unit: Buffer) => (): Buffer => unit;
/** The first unit opens stream 1, the others come on it. */
const behind =
  (unit: Buffer) =>
  (index: number): Buffer =>
    index === 1 ? begin(1) : unit;

interface Flood {
  readonly title: string;
  readonly limit: LimitName;
  /** So many are taken without complaint. */
  readonly allowed: number;
  readonly unit: (index: number) => Buffer;
}

const { unansweredResets, provokedResets, pings, settings, emptyFrames, idleFrames, windowUpdates, continuations } =
  DEFAULT_LIMITS;

/** One unit costs one of the budget; those that open a stream with their first unit have one more. */
const FLOODS: readonly Flood[] = [
  {
    title: 'rapid reset: HEADERS and RST_STREAM at once (CVE-2023-44487)',
    limit: 'unanswered_resets',
    allowed: unansweredResets.burst,
    unit: then(0, onStream(FrameType.rstStream, 0, uint32(ErrorCode.cancel))),
  },
  {
    title: 'rapid reset of calls with their message and end',
    limit: 'unanswered_resets',
    allowed: unansweredResets.burst,
    unit: then(
      0,
      onStream(FrameType.data, endStream, message(3)),
      onStream(FrameType.rstStream, 0, uint32(ErrorCode.noError)),
    ),
  },
  {
    title: 'PING',
    limit: 'pings',
    allowed: pings.burst,
    unit: again(frame(FrameType.ping, 0, 0, Buffer.alloc(8))),
  },
  {
    title: 'PING acknowledgements that nobody asked for',
    limit: 'idle_frames',
    allowed: idleFrames.burst,
    unit: again(frame(FrameType.ping, ack, 0, Buffer.alloc(8))),
  },
  { title: 'SETTINGS', limit: 'settings', allowed: settings.burst, unit: again(frame(FrameType.settings, 0, 0)) },
  {
    title: 'SETTINGS acknowledgements',
    limit: 'settings',
    allowed: settings.burst,
    unit: again(frame(FrameType.settings, ack, 0)),
  },
  {
    title: 'GOAWAY',
    limit: 'idle_frames',
    allowed: idleFrames.burst,
    unit: again(frame(FrameType.goAway, 0, 0, Buffer.alloc(8))),
  },
  {
    title: 'empty DATA (CVE-2019-9518)',
    limit: 'empty_frames',
    allowed: emptyFrames.burst,
    unit: behind(frame(FrameType.data, 0, 1)),
  },
  {
    title: 'DATA that is padding only',
    limit: 'empty_frames',
    allowed: emptyFrames.burst,
    unit: behind(frame(FrameType.data, padded, 1, Buffer.from([2, 0, 0]))),
  },
  {
    title: 'PRIORITY',
    limit: 'idle_frames',
    allowed: idleFrames.burst,
    unit: again(frame(FrameType.priority, 0, 1, Buffer.from([0, 0, 0, 3, 1]))),
  },
  {
    title: 'frames of an unknown type',
    limit: 'idle_frames',
    allowed: idleFrames.burst,
    unit: again(frame(0x42, 0xff, 7, Buffer.alloc(3))),
  },
  {
    title: 'WINDOW_UPDATE of a connection',
    limit: 'window_updates',
    allowed: windowUpdates.burst,
    unit: again(frame(FrameType.windowUpdate, 0, 0, uint32(1))),
  },
  {
    title: 'WINDOW_UPDATE of a stream',
    limit: 'window_updates',
    allowed: windowUpdates.burst,
    unit: behind(frame(FrameType.windowUpdate, 0, 1, uint32(1))),
  },
];

/** CVE-2025-8671: the peer has its streams reset by us, and its work done for nothing. */
const PROVOCATIONS: readonly [string, (index: number) => Buffer][] = [
  ['WINDOW_UPDATE of 0 (6.9)', then(0, onStream(FrameType.windowUpdate, 0, uint32(0)))],
  ['a window of more than 2^31-1 (6.9.1)', then(0, onStream(FrameType.windowUpdate, 0, uint32(MAX_31_BITS)))],
  ['DATA after END_STREAM (5.1)', then(endStream, onStream(FrameType.data, 0, message(1)))],
  ['HEADERS after END_STREAM (5.1)', then(endStream, onStream(FrameType.headers, endHeaders, block))],
  ['HEADERS within a message (8.1)', then(0, onStream(FrameType.headers, endHeaders, block))],
  ['PRIORITY of 4 bytes (6.3)', then(0, onStream(FrameType.priority, 0, Buffer.alloc(4)))],
  [
    'PRIORITY on itself (RFC 7540 5.3.1)',
    then(0, (id) => frame(FrameType.priority, 0, id, Buffer.concat([uint32(id), Buffer.from([1])]))),
  ],
  [
    'a name in upper case (8.2.1)',
    (index) => frame(FrameType.headers, endHeaders, streamOf(index), grpcHeaders(HOLD, [['X-Big', '1']])),
  ],
  [
    'no :path (8.3.1)',
    (index) => frame(FrameType.headers, endHeaders, streamOf(index), headerBlock([[':method', 'POST']])),
  ],
  [
    'less DATA than content-length (8.1.1)',
    (index) =>
      Buffer.concat([
        frame(FrameType.headers, endHeaders, streamOf(index), grpcHeaders(HOLD, [['content-length', '9']])),
        frame(FrameType.data, endStream, streamOf(index), message(1)),
      ]),
  ],
];

describe('attacks on a connection: one peer asks too much, the others do not notice', () => {
  const setUp = attackedSetup();

  async function expectEnds({ limit, allowed, unit }: Flood): Promise<void> {
    const { transport, limits, errors, calls, bystander, open } = await setUp();
    const before = heldBytes();
    const client = await open();
    // Not quite all: SETTINGS and PING of the test itself count, too.
    const harmless = Math.floor(allowed * 0.95) - 2;
    await flood(client, bystander, unit, { count: harmless });
    expect({ answers: await client.answers(), limits }).toEqual({ answers: true, limits: [] });

    await flood(client, bystander, unit, { from: harmless + 1, count: 20 * allowed });

    const { code, reason } = await client.goAway();
    expect({ code, limits }).toEqual({ code: ErrorCode.enhanceYourCalm, limits: [limit] });
    expect(reason).toContain(limit);
    await client.ended();
    await until(() => transport.openCalls === 1, 'only the call of the bystander');
    expect(calls.closed).toBe(calls.opened);
    expect(heldBytes() - before).toBeLessThan(24 * MIB);
    expect(errors).toEqual([]);
    await bystander.roundTrip();
  }

  describe('floods end in GOAWAY ENHANCE_YOUR_CALM (RFC 9113 10.5)', () => {
    it.each(FLOODS)('$title', expectEnds);
  });

  describe('made-you-reset: resets that the peer provokes end in GOAWAY ENHANCE_YOUR_CALM', () => {
    it.each(PROVOCATIONS)('%s', async (title, unit) => {
      await expectEnds({ title, unit, limit: 'provoked_resets', allowed: provokedResets.burst });
    });
  });

  describe('a header block without an end (CVE-2024-27316, RFC 9113 10.5.1)', () => {
    it.each([
      ['of empty CONTINUATION frames', 'continuations', NONE],
      ['of small ones', 'continuations', Buffer.from([0x88])],
      ['of large ones', 'header_block', Buffer.alloc(16_000, 0x88)],
    ] as const)('%s', async (_, limit, payload) => {
      const { limits, bystander, open, calls } = await setUp();
      const before = heldBytes();
      const client = await open();
      client.frame(FrameType.headers, 0, 1, block);
      await flood(client, bystander, again(frame(FrameType.continuation, 0, 1, payload)), { count: 100_000 });

      expect(await client.goAway()).toMatchObject({ code: ErrorCode.enhanceYourCalm });
      await client.ended();
      expect({ limits, opened: calls.opened }).toEqual({ limits: [limit], opened: 0 });
      expect(heldBytes() - before).toBeLessThan(8 * MIB);
    });

    it('of as many frames as there may be is read', async () => {
      const { limits, open } = await setUp();
      const client = await open();
      const pieces = Math.min(continuations, block.length);
      client.frame(FrameType.headers, 0, 1, block.subarray(0, block.length - pieces));
      for (let i = pieces; i > 0; i--) {
        const at = block.length - i;
        client.frame(FrameType.continuation, i === 1 ? endHeaders : 0, 1, block.subarray(at, at + 1));
      }

      expect(await client.answers()).toBe(true);
      expect(limits).toEqual([]);
    });
  });

  describe('what costs no more than its bytes is served', () => {
    it('resets of streams that are over', async () => {
      const { limits, bystander, open } = await setUp();
      const before = heldBytes();
      const client = await open();
      const unit = Buffer.concat([
        frame(FrameType.headers, endHeaders, 1, grpcHeaders(SHORT)),
        frame(FrameType.data, endStream, 1, message(1)),
      ]);
      client.write(unit);
      await client.receivedOn(1, FrameType.headers);

      await flood(client, bystander, again(frame(FrameType.rstStream, 0, 1, uint32(8))), { count: 300_000 });

      expect(await client.answers()).toBe(true);
      expect(limits).toEqual([]);
      expect(heldBytes() - before).toBeLessThan(8 * MIB);
    });

    it('requests by GET, and of paths that nobody knows', async () => {
      const { limits, bystander, open, calls } = await setUp();
      const before = heldBytes();
      const client = await open([[4, MAX_31_BITS]]);
      client.windowUpdate(0, MAX_31_BITS - 65_535);
      const get = headerBlock([[':method', 'GET'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']]); // biome-ignore format: one line
      const unknown = grpcHeaders('/no.Such/Method');
      const unit = (index: number): Buffer =>
        frame(FrameType.headers, endHeaders | endStream, streamOf(index), index % 2 === 0 ? get : unknown);

      await flood(client, bystander, unit, { count: 20_000 });

      expect(await client.answers()).toBe(true);
      expect({ limits, opened: calls.opened }).toEqual({ limits: [], opened: 0 });
      client.frames.length = 0;
      expect(heldBytes() - before).toBeLessThan(8 * MIB);
    });

    it('SETTINGS that move the windows of many streams to and fro', async () => {
      const { limits, bystander, open } = await setUp();
      const client = await open();
      await flood(client, bystander, begin, { count: 20_000 });
      const payload = settingsPayload(
        Array.from({ length: 2700 }, (_, i) => [4, i % 2 === 0 ? 0 : 1_000_000] as const),
      );

      await flood(client, bystander, again(frame(FrameType.settings, 0, 0, payload)), { count: settings.burst - 10 });

      expect(await client.answers()).toBe(true);
      expect(limits).toEqual([]);
      expect(await bystander.roundTrip()).toBeLessThan(500);
    });
  });
});
