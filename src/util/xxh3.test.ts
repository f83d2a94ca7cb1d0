import { describe, expect, it } from 'vitest';
import { Xxh3, xxh3, xxh3OfIds } from './xxh3.ts';

const text = (value: string): Uint8Array => Buffer.from(value);

/** Token ids as the hash wants them: unsigned 32-bit, little-endian. */
function tokens(ids: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(ids.length * 4);
  ids.forEach((id, i) => void bytes.writeUInt32LE(id, i * 4));
  return bytes;
}

/** A 64-bit number as 8 little-endian bytes. */
function little(hex: string): Buffer {
  return Buffer.from(hex, 'hex').reverse();
}

const FIRST_256 = Array.from({ length: 256 }, (_, i) => i);

describe('policies 1.8 golden vectors of prefix_hash', () => {
  it.each([
    ['tokens 0…255', tokens(FIRST_256), 'd12ba3ba3964c7ed'],
    ['text', text('Hello, world!'), 'f3c34bf11915e869'],
    ['routing key', text('user-1'), '7c7615c11438e5c9'],
  ])('%s', (_title, bytes, hash) => {
    expect(xxh3(bytes)).toBe(hash);
  });
});

describe('policies 1.8 golden vectors of the event index, seed 1337', async () => {
  const seeded = await Xxh3.create(1337);

  it.each([
    ['block [1,2,3,4]', tokens([1, 2, 3, 4]), 'cb38e4d7fb2dca5c'],
    ['block [5,6,7,8]', tokens([5, 6, 7, 8]), 'e8d3ec39b907b74c'],
    ['prefix at 1', Buffer.concat([little('cb38e4d7fb2dca5c'), little('e8d3ec39b907b74c')]), '44a2b2379d6d3c3d'],
  ])('%s', (_title, bytes, hash) => {
    expect(seeded.hex(bytes)).toBe(hash);
  });

  it('keeps its state apart from the unseeded hash', () => {
    expect(xxh3(tokens([1, 2, 3, 4]))).not.toBe('cb38e4d7fb2dca5c');
    expect(seeded.hex(tokens([1, 2, 3, 4]))).toBe('cb38e4d7fb2dca5c');
  });
});

describe('xxh3', () => {
  // Reference values of the XXH3 authors' sanity suite for no bytes.
  it('of nothing', async () => {
    expect(xxh3(new Uint8Array(0))).toBe('2d06800538d394c2');
  });

  it('pads to 16 digits', () => {
    let short = false;
    for (let i = 0; i < 2000; i++) {
      const hex = xxh3(text(`key-${i}`));
      expect(hex).toMatch(/^[0-9a-f]{16}$/);
      short ||= hex.startsWith('0');
    }
    expect(short).toBe(true);
  });

  it('reads only the first ids of a view', () => {
    const ids = Uint32Array.from([9, 9, ...FIRST_256, 9]).subarray(2);
    expect(xxh3OfIds(ids, 256)).toBe('d12ba3ba3964c7ed');
  });

  it('reads only the range of a view', () => {
    const whole = Buffer.from('xxuser-1yy');
    expect(xxh3(whole.subarray(2, 8))).toBe('7c7615c11438e5c9');
  });
});
