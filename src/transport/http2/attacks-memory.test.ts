import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { grpcHeaders, type RawHttp2 } from '../../../test/support/raw-http2.ts';
import { framed, until } from '../peers.suite.ts';
import { attackedSetup, ECHO, flood, HOLD, heldBytes, MIB, message } from './attacked.suite.ts';
import { ErrorCode, Flag, FrameType, MAX_31_BITS, Setting } from './codes.ts';
import { literalField } from './hpack/literals.ts';
import { rawFrame } from './hpack/raw-frames.suite.ts';
import type { LimitName } from './limits.ts';

const { endHeaders, endStream } = Flag;
const streamOf = (index: number): number => index * 2 - 1;

/** A literal that enters the dynamic table (RFC 7541 6.2.1). */
function indexed(name: string, value: string): Buffer {
  const literal = literalField(name, value);
  return Buffer.concat([Buffer.from([0x40]), literal.subarray(1)]);
}

/** `grpc-status` of the end of a call; its name stands in the block as it is. */
async function statusOf(client: RawHttp2, streamId: number): Promise<string | undefined> {
  const end = ({ streamId: id, type, flags }: { streamId: number; type: number; flags: number }): boolean =>
    id === streamId && type === FrameType.headers && (flags & endStream) !== 0;
  const { payload } = await client.received(end, `the end of ${streamId}`);
  const text = payload.toString('latin1');
  const at = text.indexOf('grpc-status') + 'grpc-status'.length;
  return text.slice(at + 1, at + 1 + text.charCodeAt(at));
}

describe('attacks on memory: what a peer can make us hold is bounded, and the others are served', () => {
  const setUp = attackedSetup();

  it('HPACK bomb: a large entry named thousands of times ends the call (RFC 7541 7.3, RFC 9113 6.5.2)', async () => {
    const { limits, calls, bystander, open } = await setUp();
    const before = heldBytes();
    const client = await open();
    const first = Buffer.concat([grpcHeaders(HOLD), indexed('bomb', 'x'.repeat(4000))]);
    client.frame(FrameType.headers, endHeaders, 1, first);
    expect(await client.answers()).toBe(true);
    const bomb = Buffer.concat([grpcHeaders(HOLD), Buffer.alloc(16_000, 0x80 | 62)]);
    const unit = (index: number): Buffer =>
      rawFrame(FrameType.headers, endHeaders | endStream, streamOf(index + 1), bomb);

    await flood(client, bystander, unit, { count: 200 });

    expect(await statusOf(client, 401)).toBe('8');
    expect(limits).toEqual(Array(200).fill('header_list'));
    expect(calls.opened).toBe(1);
    expect(heldBytes() - before).toBeLessThan(32 * MIB);
    expect(await client.answers()).toBe(true);
  });

  describe('lengths that a message declares and does not have', () => {
    it.each([
      ['none of its bytes', 0],
      ['one of its bytes', 1],
    ])('60 MB, %s, on 20,000 streams: nothing is kept for it', async (_, sent) => {
      const { limits, errors, bystander, open } = await setUp();
      const before = heldBytes();
      const client = await open();
      const lie = framed(Buffer.alloc(sent), 60_000_000);
      const unit = (index: number): Buffer =>
        Buffer.concat([
          rawFrame(FrameType.headers, endHeaders, streamOf(index), grpcHeaders(HOLD)),
          rawFrame(FrameType.data, 0, streamOf(index), lie),
        ]);

      await flood(client, bystander, unit, { count: 20_000 });

      expect(await client.answers()).toBe(true);
      expect({ limits, errors }).toEqual({ limits: [], errors: [] });
      expect(heldBytes() - before).toBeLessThan(128 * MIB);
      expect(await bystander.roundTrip()).toBeLessThan(500);
    });

    it('2^32-1 ends the call with RESOURCE_EXHAUSTED, 0 is a message', async () => {
      const { open } = await setUp();
      const client = await open();
      client.call(1, ECHO).data(1, framed(Buffer.alloc(9), 0xffff_ffff));
      client.call(3, ECHO).data(3, message(0), endStream);

      expect(await statusOf(client, 1)).toBe('8');
      expect((await client.receivedOn(3, FrameType.data)).payload).toEqual(message(0));
      expect(await statusOf(client, 3)).toBe('0');
    });

    it('a zip bomb ends the call with RESOURCE_EXHAUSTED', async () => {
      const { bystander, open } = await setUp({ maxReceiveBytes: 4 * MIB });
      const client = await open();
      const bomb = gzipSync(Buffer.alloc(64 * MIB));
      const compressed = framed(bomb);
      compressed[0] = 1;
      client.call(1, ECHO, [['grpc-encoding', 'gzip']]);
      for (let at = 0; at < compressed.length; at += 16_000) client.data(1, compressed.subarray(at, at + 16_000));

      expect(await statusOf(client, 1)).toBe('8');
      expect(await bystander.roundTrip()).toBeLessThan(500);
    });
  });

  describe('answers that nobody takes', () => {
    const LIMIT = 8 * MIB;
    const echoed =
      (bytes: Buffer) =>
      (index: number): Buffer =>
        Buffer.concat([
          rawFrame(FrameType.headers, endHeaders, streamOf(index), grpcHeaders(ECHO)),
          rawFrame(FrameType.data, 0, streamOf(index), bytes),
        ]);

    it('without a window: the call that adds too much is reset with ENHANCE_YOUR_CALM, the others go on', async () => {
      const { transport, limits, bystander, open } = await setUp({ limits: { sendQueueBytes: LIMIT } });
      const before = heldBytes();
      const client = await open([[Setting.initialWindowSize, 0]]);
      const large = message(16_000);
      const count = Math.ceil((8 * LIMIT) / large.length);

      await flood(client, bystander, echoed(large), { count });

      const last = streamOf(count);
      expect(await client.resetCode(last)).toBe(ErrorCode.enhanceYourCalm);
      expect(limits[0]).toBe('send_queue');
      // What the socket gave is kept as it came, with what lies beside it.
      expect(heldBytes() - before).toBeLessThan(4 * LIMIT);
      // Those that had their place are served once the peer grants a window.
      client.windowUpdate(1, large.length);
      expect((await client.receivedOn(1, FrameType.data)).payload.length).toBe(large.length);
      client.destroy();
      await until(() => transport.openCalls === 1, 'nothing is kept');
    });

    it('a call whose answers wait gets no window for more', async () => {
      const { limits, bystander, open } = await setUp();
      const before = heldBytes();
      const client = await open([[Setting.initialWindowSize, 0]]);
      client.call(1, ECHO);
      const unit = (): Buffer => rawFrame(FrameType.data, 0, 1, message(16_000));

      const sent = await flood(client, bystander, unit, { count: 130 });
      expect(sent).toBe(130);
      const granted = client.frames.filter(({ type, streamId }) => type === FrameType.windowUpdate && streamId === 1);
      await flood(client, bystander, unit, { count: 1000 });

      // It went on without a window of its own.
      expect(await client.resetCode(1)).toBe(ErrorCode.flowControlError);
      expect(granted.length).toBeLessThanOrEqual(2);
      expect(limits).toEqual([]);
      expect(heldBytes() - before).toBeLessThan(24 * MIB);
    });

    it('by a peer that never reads: bounded, and the peer is dropped in the end (slow_reader)', async () => {
      const { transport, limits, bystander, open } = await setUp({
        limits: { sendQueueBytes: LIMIT, slowReaderMs: 500 },
      });
      const before = heldBytes();
      const client = await open([[Setting.initialWindowSize, MAX_31_BITS]]);
      client.windowUpdate(0, MAX_31_BITS - 65_535);
      client.socket.pause();
      await flood(client, bystander, echoed(message(16_000)), { count: 2000 });
      const held = heldBytes() - before;

      await until(() => limits.includes('slow_reader'), 'the end of patience');
      expect(new Set(limits)).toEqual(new Set(['send_queue', 'slow_reader']));
      expect(held).toBeLessThan(4 * LIMIT);
      await until(() => transport.openCalls === 1 && transport.openConnections === 1, 'nothing is kept');
      await bystander.roundTrip();
    });
  });

  it('streams above the limit are refused with REFUSED_STREAM, those below go on (5.1.2)', async () => {
    const { limits, calls, open } = await setUp({ limits: { streams: 10 } });
    const client = await open();
    for (let index = 1; index <= 12; index++) client.call(streamOf(index), ECHO);

    expect(await client.resetCode(streamOf(11))).toBe(ErrorCode.refusedStream);
    expect(await client.resetCode(streamOf(12))).toBe(ErrorCode.refusedStream);
    client.data(1, message(5), endStream);
    expect((await client.receivedOn(1, FrameType.data)).payload).toEqual(message(5));
    expect(await statusOf(client, 1)).toBe('0');
    client.call(streamOf(13), ECHO).data(streamOf(13), message(1), endStream);
    expect(await statusOf(client, streamOf(13))).toBe('0');
    expect({ limits, opened: calls.opened }).toEqual({ limits: ['streams', 'streams'], opened: 11 });
  });

  it('slowloris: what begins and does not go on is dropped (RFC 9113 3.4)', async () => {
    const timeouts = { prefaceMs: 300, keepaliveMs: 300, keepaliveTimeoutMs: 300 };
    const { transport, limits, connect, bystander } = await setUp({ limits: timeouts });
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    const begun = Buffer.concat([preface, rawFrame(FrameType.settings, 0, 0, Buffer.alloc(0))]);
    const beginnings: readonly (readonly [string, Buffer, LimitName])[] = [
      ['nothing', Buffer.alloc(0), 'preface'],
      ['half a preface', preface.subarray(0, 10), 'preface'],
      ['a preface without SETTINGS', preface, 'preface'],
      ['half a SETTINGS frame', Buffer.concat([preface, Buffer.from([0, 0, 6, 4])]), 'preface'],
      ['SETTINGS, then nothing', begun, 'keepalive'],
      ['half a frame', Buffer.concat([begun, Buffer.from([0, 0, 9, 1, 4, 0])]), 'keepalive'],
      [
        'a header block without its end',
        Buffer.concat([begun, rawFrame(FrameType.headers, 0, 1, grpcHeaders(HOLD))]),
        'keepalive',
      ],
    ];

    const ends = await Promise.all(
      beginnings.map(async ([what, bytes]) => {
        const client = await connect();
        client.write(bytes);
        await client.ended();
        return [what, await client.goAway()];
      }),
    );

    const expected = beginnings.map(([what, , limit]) => [
      what,
      { code: ErrorCode.noError, reason: `${limit} timeout` },
    ]);
    expect(ends).toEqual(expected);
    expect(limits.toSorted()).toEqual(beginnings.map(([, , limit]) => limit).toSorted());
    // The bystander has answered its PINGs.
    await bystander.roundTrip();
    expect(transport.openConnections).toBe(1);
  });
});
