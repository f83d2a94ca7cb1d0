import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Prober } from './prober.ts';

/** A store whose answers the test gives, on a clock that it moves. */
function probed(well = true) {
  const told: string[] = [];
  const open: { resolve(epoch: string): void; reject(error: Error): void }[] = [];
  const world = { well, told, asked: 0 };
  const prober = new Prober({
    ask: () => {
      world.asked += 1;
      return new Promise((resolve, reject) => open.push({ resolve, reject }));
    },
    answered: (ms, epoch) => told.push(`${ms} ${epoch}`),
    refused: (error) => told.push(error.reason),
    overdue: () => told.push('overdue'),
    well: () => world.well,
  });
  const settle = async (act: (question: (typeof open)[number]) => void): Promise<void> => {
    const question = open.shift();
    if (question !== undefined) act(question);
    await vi.advanceTimersByTimeAsync(0);
  };
  return {
    ...{ world, prober, told },
    answer: () => settle(({ resolve }) => resolve('e')),
    refuse: (message: string) => settle(({ reject }) => reject(new Error(message))),
  };
}

describe('probes of the store', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('come at once with a connection, then a second after each answer while it is well', async () => {
    const { world, prober, told, answer } = probed();
    prober.begin();
    vi.advanceTimersByTime(7);
    await answer();
    vi.advanceTimersByTime(999);
    expect(world.asked).toBe(1);
    vi.advanceTimersByTime(1);

    expect(world.asked).toBe(2);
    expect(told).toEqual(['7 e']);
  });

  it('come sooner while it is not, and ever more seldom', async () => {
    const { world, prober, refuse } = probed(false);
    prober.begin();
    for (const wait of [100, 200, 400, 800, 1000, 1000]) {
      await refuse('OOM');
      const { asked } = world;
      vi.advanceTimersByTime(wait - 1);
      expect(world.asked).toBe(asked);
      vi.advanceTimersByTime(1);
      expect(world.asked).toBe(asked + 1);
    }
  });

  it('are overdue after a second, once, and count when they are answered after all', async () => {
    const { world, prober, told, answer } = probed();
    prober.begin();
    vi.advanceTimersByTime(5000);
    expect([told, world.asked, prober.answering]).toEqual([['overdue'], 1, false]);

    await answer();

    expect([told, prober.answering]).toEqual([['overdue', '5000 e'], true]);
  });

  it('of a connection that is gone say nothing', async () => {
    const { world, prober, told, answer } = probed();
    prober.begin();
    prober.end();
    await answer();
    vi.advanceTimersByTime(5000);

    expect([told, world.asked, prober.answering, vi.getTimerCount()]).toEqual([[], 1, false, 0]);
  });

  it('hurry when the store is not well any more, but never ask twice at once', async () => {
    const { world, prober, answer } = probed();
    prober.begin();
    prober.hurry();
    vi.advanceTimersByTime(500);
    expect(world.asked).toBe(1);
    await answer();
    world.well = false;

    prober.hurry();
    vi.advanceTimersByTime(100);

    expect(world.asked).toBe(2);
  });

  it('come ever later when calls soon fail after each that was answered, until it was calm for a while', async () => {
    const { world, prober, answer } = probed();
    prober.begin();
    await answer();
    const fail = async (): Promise<number> => {
      const { asked } = world;
      world.well = false;
      prober.hurry();
      const start = performance.now();
      while (world.asked === asked) vi.advanceTimersByTime(50);
      world.well = true;
      await answer();
      return performance.now() - start;
    };
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) waits.push(await fail());
    for (let i = 0; i < 11; i++) {
      vi.advanceTimersByTime(1000);
      await answer();
    }

    expect(waits).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect([await fail(), await fail()]).toEqual([100, 200]);
  });

  it('tell what was refused', async () => {
    const { prober, told, refuse } = probed();
    prober.begin();
    await refuse('READONLY it is a replica');

    expect(told).toEqual(['readonly']);
    expect(prober.answering).toBe(true);
  });
});
