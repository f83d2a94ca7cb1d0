import { describe, expect, it } from 'vitest';
import { ReceiveWindow } from './receive-window.ts';

describe('what a peer may send (RFC 9113 6.9)', () => {
  it('is given back in halves of the window', () => {
    const window = new ReceiveWindow(100);

    expect([window.take(49), window.due(), window.take(1), window.due(), window.due()]).toEqual([true, 0, true, 50, 0]);
  });

  it('ends at the window', () => {
    const window = new ReceiveWindow(100);

    expect([window.take(100), window.take(1)]).toEqual([true, false]);
  });

  it('never ends for who keeps to it', () => {
    const window = new ReceiveWindow(100);
    let left = 100;
    for (let round = 0; round < 1000; round++) {
      const bytes = 1 + ((round * 7) % left);
      expect(window.take(bytes)).toBe(true);
      left += window.due() - bytes;
      expect(left).toBeGreaterThan(50);
    }
  });
});
