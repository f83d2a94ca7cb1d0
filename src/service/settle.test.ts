import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { A, setUpRegistry, specOf } from '../../test/support/registry-bench.ts';
import { settleWhenRead } from './settle.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp(isRead: boolean) {
  const { registry } = setUpRegistry();
  const listeners = new Set<() => void>();
  const discovery = {
    isRead,
    onTurn: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const undo = settleWhenRead(registry, discovery);
  const turn = (read: boolean) => {
    discovery.isRead = read;
    for (const listener of [...listeners]) listener();
  };
  return { registry, turn, undo, listeners };
}

describe('decisions 24 no endpoints before the sources were read', () => {
  it('is settled at once where every source was read', () => {
    const { registry, listeners } = setUp(true);
    expect([registry.settled, listeners.size, vi.getTimerCount()]).toEqual([true, 0, 0]);
  });

  it('is settled when the last source is read', () => {
    const { registry, turn } = setUp(false);
    turn(false);
    expect(registry.settled).toBe(false);
    turn(true);
    expect([registry.settled, vi.getTimerCount()]).toEqual([true, 0]);
  });

  it('waits for ever where there is nothing to go on with', () => {
    const { registry } = setUp(false);
    vi.advanceTimersByTime(3_600_000);
    expect(registry.settled).toBe(false);

    registry.add(specOf(A), 'api');
    expect(registry.settled).toBe(true);
  });

  it('waits 30 s for a source that cannot be read where others have workers', () => {
    const { registry } = setUp(false);
    registry.add(specOf(A), 'flags');
    vi.advanceTimersByTime(29_999);
    expect(registry.settled).toBe(false);
    vi.advanceTimersByTime(1);
    expect(registry.settled).toBe(true);
  });

  it('does nothing after its undo', () => {
    const { registry, turn, undo } = setUp(false);
    undo();
    turn(true);
    expect([registry.settled, vi.getTimerCount()]).toEqual([false, 0]);
  });
});
