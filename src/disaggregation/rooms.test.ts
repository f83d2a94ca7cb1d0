import { randomFillSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { drawRoom, drawTransferId } from './rooms.ts';

describe('policies 4.3 rooms', () => {
  it.each([
    [0x00, '0'],
    [0xff, String(2n ** 63n - 1n)],
  ])('bytes of %i', (byte, room) => expect(drawRoom((bytes) => bytes.fill(byte))).toBe(room));
});

describe('policies 4.4 transfer ids', () => {
  it('begin with the time, as UUIDs of version 7 do', () => {
    const at = Date.UTC(2026, 10, 30);
    expect(drawTransferId((bytes) => bytes.fill(0xff), at)).toBe(
      `xfer-${at
        .toString(16)
        .padStart(12, '0')
        .replace(/^(.{8})/, '$1-')}-7fff-bfff-ffffffffffff`,
    );
  });

  it('are no two the same', () => {
    const ids = new Set(Array.from({ length: 1000 }, () => drawTransferId(randomFillSync, 0)));
    expect(ids.size).toBe(1000);
  });
});
