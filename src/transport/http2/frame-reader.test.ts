import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ErrorCode, FrameType } from './codes.ts';
import { FrameReader, type FrameTaker } from './frame-reader.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const MAX = 16_384;

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

/** What a reader tells, with the pieces of one DATA frame joined. */
class Heard implements FrameTaker {
  readonly events: string[] = [];
  #data = '';

  frame(type: number, flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    this.events.push(`${type} ${flags} ${id} ${bytes.toString('hex', from, to)}`);
  }
  dataBegins(id: number, length: number, flags: number): void {
    this.events.push(`data ${id} ${length} ${flags}`);
    this.#data = '';
  }
  data(bytes: Buffer, from: number, to: number): void {
    this.#data += bytes.toString('hex', from, to);
  }
  dataEnds(): void {
    this.events.push(`ends ${this.#data}`);
  }
  tooLarge(): void {
    this.events.push('too large');
  }
  violated(code: ErrorCode, reason: string): void {
    this.events.push(`violated ${code} ${reason}`);
  }
}

function bytesOf({ type, flags, id, payload }: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

function heardOf(pieces: readonly Buffer[], max = MAX): readonly string[] {
  const heard = new Heard();
  const reader = new FrameReader(heard, max);
  for (const piece of pieces) reader.read(piece);
  return heard.events;
}

const hello = (...frames: Frame[]): Buffer => Buffer.concat([PREFACE, ...frames.map(bytesOf)]);
const data = (flags: number, payload: Buffer): Frame => ({ type: FrameType.data, flags, id: 1, payload });

describe('frames (RFC 9113 4.1)', () => {
  it('are told alike, however the bytes are cut', () => {
    const frame = fc.record({
      type: fc.integer({ min: 0, max: 12 }),
      // Padding is a story of its own.
      flags: fc.constantFrom(0, 1, 4, 5),
      id: fc.nat(0x7fff_ffff),
      payload: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), (frames) => {
        const bytes = hello(...frames);
        const expected = frames.flatMap(({ type, flags, id, payload }) =>
          type === FrameType.data
            ? [`data ${id} ${payload.length} ${flags}`, `ends ${payload.toString('hex')}`]
            : [`${type} ${flags} ${id} ${payload.toString('hex')}`],
        );

        expect(heardOf([bytes])).toEqual(expected);
        expect(heardOf([...bytes].map((byte) => Buffer.from([byte])))).toEqual(expected);
      }),
    );
  });

  it('lose the reserved bit of their stream (RFC 9113 4.1)', () => {
    const bytes = hello({ type: 8, flags: 0, id: 0x8000_0003, payload: Buffer.alloc(4) });

    expect(heardOf([bytes])).toEqual(['8 0 3 00000000']);
  });

  it.each([
    { what: 'padding of two', payload: [2, 0x61, 0x62, 0, 0], told: ['data 1 5 8', 'ends 6162'] },
    { what: 'no padding after all', payload: [0, 0x61], told: ['data 1 2 8', 'ends 61'] },
    { what: 'nothing but padding', payload: [3, 0, 0, 0], told: ['data 1 4 8', 'ends '] },
    {
      what: 'more padding than payload',
      payload: [2, 0x61],
      told: ['data 1 2 8', 'violated 1 more padding than payload'],
    },
    { what: 'no room for its length', payload: [], told: ['data 1 0 8', 'violated 1 more padding than payload'] },
  ])('DATA with $what (RFC 9113 6.1)', ({ payload, told }) => {
    const bytes = hello(data(8, Buffer.from(payload)));

    expect(heardOf([bytes])).toEqual(told);
    expect(heardOf([...bytes].map((byte) => Buffer.from([byte])))).toEqual(told);
  });

  it('are refused above the size that was announced, by their header alone (RFC 9113 4.2)', () => {
    const largest = hello(data(0, Buffer.alloc(MAX)));
    const larger = hello({ type: 1, flags: 0, id: 1, payload: Buffer.alloc(MAX + 1) });

    expect(heardOf([largest])).toEqual([`data 1 ${MAX} 0`, `ends ${'00'.repeat(MAX)}`]);
    expect(heardOf([larger.subarray(0, PREFACE.length + 9), larger])).toEqual(['too large']);
  });

  it.each(['GET / HTTP/1.1\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n'])('do not begin with %j', (text) => {
    expect(heardOf([Buffer.from(text), hello(data(0, Buffer.from('x')))])).toEqual(['violated 1 no HTTP/2 preface']);
  });

  it('are told no more once the reader is stopped', () => {
    const heard = new Heard();
    const reader = new FrameReader(heard, MAX);
    heard.dataEnds = () => reader.stop();

    reader.read(hello(data(0, Buffer.from('x')), data(0, Buffer.from('y'))));

    expect(heard.events).toEqual(['data 1 1 0']);
  });
});
