import { describe, expect, it } from 'vitest';
import { PeerSettings } from './peer-settings.ts';

function payload(...entries: readonly (readonly [number, number])[]): Buffer {
  const bytes = Buffer.alloc(entries.length * 6);
  entries.forEach(([name, value], index) => {
    bytes.writeUInt16BE(name, index * 6);
    bytes.writeUInt32BE(value, index * 6 + 2);
  });
  return bytes;
}

describe('SETTINGS of the peer (RFC 9113 6.5.2)', () => {
  it.each([
    { name: 'ENABLE_PUSH', id: 2, value: 1, error: null },
    { name: 'ENABLE_PUSH', id: 2, value: 2, error: 1 },
    { name: 'INITIAL_WINDOW_SIZE', id: 4, value: 0x7fff_ffff, error: null },
    { name: 'INITIAL_WINDOW_SIZE', id: 4, value: 0x8000_0000, error: 3 },
    { name: 'MAX_FRAME_SIZE', id: 5, value: 16_384, error: null },
    { name: 'MAX_FRAME_SIZE', id: 5, value: 16_383, error: 1 },
    { name: 'MAX_FRAME_SIZE', id: 5, value: 0xff_ffff, error: null },
    { name: 'MAX_FRAME_SIZE', id: 5, value: 0x100_0000, error: 1 },
    { name: 'one that is not known', id: 99, value: 0xffff_ffff, error: null },
  ])('$name of $value: error $error', ({ id, value, error }) => {
    const bytes = payload([id, value]);

    expect(new PeerSettings().take(bytes, 0, bytes.length)).toBe(error);
  });

  it('are taken in their order, and stay when a later frame does not name them', () => {
    const settings = new PeerSettings();
    const first = payload([4, 1], [5, 20_000], [4, 70_000]);
    settings.take(first, 0, first.length);
    settings.take(Buffer.alloc(0), 0, 0);

    expect(settings).toEqual({ initialWindow: 70_000, frameBytes: 20_000 });
  });
});
