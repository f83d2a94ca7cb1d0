import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heldBytes } from './attacked.suite.ts';
import { MessageMemory } from './message-memory.ts';
import { MessageReader } from './message-reader.ts';

const MAX = 4 * 1024 * 1024;

interface Got {
  readonly bytes: Buffer;
  readonly compressed: boolean;
}

function reading(maxBytes = MAX) {
  const got: Got[] = [];
  const failures: string[] = [];
  const taker = {
    wireMessage: (bytes: Buffer, compressed: boolean) => void got.push({ bytes, compressed }),
    unreadable: (reason: string) => void failures.push(reason),
  };
  const reader = new MessageReader(taker, maxBytes, new MessageMemory());
  return { got, failures, reader, read: (piece: Buffer) => reader.read(piece, 0, piece.length) };
}

function framed(message: Buffer, flag = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** `bytes` in pieces that end at the given places. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  const bounds = [0, ...ends, bytes.length];
  return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
}

describe('messages in DATA (gRPC over HTTP/2, Length-Prefixed-Message)', () => {
  it('come out whole, however the bytes are cut', () => {
    const message = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.array(fc.nat(2000), { maxLength: 12 }),
        (messages, places) => {
          const { got, failures, reader, read } = reading();

          for (const piece of cutAt(Buffer.concat(messages.map((each) => framed(each))), places)) read(piece);

          expect(got.map(({ bytes }) => bytes)).toEqual(messages);
          expect({ failures, whole: reader.whole }).toEqual({ failures: [], whole: true });
        },
      ),
    );
  });

  it('a message is its own, though it came in one piece that is overwritten', () => {
    const { got, read } = reading();
    const piece = framed(Buffer.from('its own'));

    read(piece);
    piece.fill(0);

    expect(String(got[0]?.bytes)).toBe('its own');
  });

  it('a message of 3 MB in pieces of 16 KB is copied into memory of less than twice its size', () => {
    const { got, read } = reading();
    const large = Buffer.alloc(3 * 1024 * 1024, 'x');
    const bytes = framed(large);

    for (let at = 0; at < bytes.length; at += 16_384) read(bytes.subarray(at, at + 16_384));

    expect(got[0]?.bytes.equals(large)).toBe(true);
    expect(got[0]?.bytes.buffer.byteLength).toBe(4 * 1024 * 1024);
  });

  it('a length alone takes no memory', () => {
    const { reader, read } = reading(1024 ** 3);
    const before = process.memoryUsage().arrayBuffers;
    const head = Buffer.alloc(6);
    head.writeUInt32BE(1024 ** 3, 1);

    read(head);

    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024);
    expect(reader.whole).toBe(false);
  });

  it('takes the memory of a message that was given back for the next one', () => {
    const memory = new MessageMemory();
    const got: Buffer[] = [];
    const taker = { wireMessage: (bytes: Buffer) => got.push(bytes), unreadable: () => expect.fail('unreadable') };
    const reader = new MessageReader(taker, 1 << 20, memory);
    const bytes = framed(Buffer.alloc(220_000, 'x'));
    for (let round = 0; round < 3; round++) {
      for (let at = 0; at < bytes.length; at += 16_384) reader.read(bytes, at, Math.min(at + 16_384, bytes.length));
      const [last] = got.slice(-1);
      expect(last?.equals(bytes.subarray(5))).toBe(true);
      if (last !== undefined) memory.release(last);
    }

    expect(new Set(got.map(({ buffer }) => buffer)).size).toBe(1);
  });

  it('gives back what a call that ended had of its message', () => {
    const memory = new MessageMemory();
    const taker = { wireMessage: () => expect.fail('whole'), unreadable: () => expect.fail('unreadable') };
    const reader = new MessageReader(taker, 1 << 20, memory);
    const bytes = framed(Buffer.alloc(220_000));
    reader.read(bytes, 0, 16_384);

    reader.stop();

    expect(memory.freeBytes).toBe(262_144);
  });

  it.each([
    ['nothing but one byte', 1, 4096],
    ['the first frame of a long prompt', 16_384, 262_144],
    ['less than a frame', 1000, 16_000],
    ['a megabyte', 1_048_576, 8_388_608],
  ])('of a message of 8 MB, %s takes memory by what is there', (_, sent, taken) => {
    const { reader, read } = reading(8_000_000);
    const bytes = framed(Buffer.alloc(sent));
    bytes.writeUInt32BE(8_000_000, 1);
    heldBytes();
    const before = process.memoryUsage().arrayBuffers;

    read(bytes);

    expect(process.memoryUsage().arrayBuffers - before).toBe(taken);
    expect(reader.whole).toBe(false);
  });

  it.each([
    { what: 'a flag that is neither 0 nor 1', bytes: Buffer.from([2, 0, 0, 0, 0]), reason: 'broken' },
    { what: 'a message over the limit', bytes: framed(Buffer.alloc(11)), reason: 'too_large' },
    { what: 'the largest length there is', bytes: Buffer.from([0, 255, 255, 255, 255]), reason: 'too_large' },
  ])('$what ends the reading, once', ({ bytes, reason }) => {
    const { got, failures, read } = reading(10);

    read(Buffer.concat([bytes, bytes, framed(Buffer.from('x'))]));
    read(framed(Buffer.from('x')));

    expect({ got, failures }).toEqual({ got: [], failures: [reason] });
  });

  it('a message of the limit passes, and says whether it is compressed', () => {
    const { got, read } = reading(10);

    read(Buffer.concat([framed(Buffer.alloc(10), 1), framed(Buffer.alloc(0))]));

    expect(got).toEqual([
      { bytes: Buffer.alloc(10), compressed: true },
      { bytes: Buffer.alloc(0), compressed: false },
    ]);
  });
});
