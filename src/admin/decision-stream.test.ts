import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DecisionRing, LINGER_MS, RING_SIZE } from '../picker/decision-ring.ts';
import { DecisionStreams, type StreamOptions } from './decision-stream.ts';

const ALL: StreamOptions = { wanted: () => true, from: 0, backlog: 0, perSecond: 1000 };

let ring: DecisionRing;
let streams: DecisionStreams;

beforeEach(() => {
  vi.useFakeTimers();
  ring = new DecisionRing({ mode: 'auto', clock: () => performance.now(), wallClock: Date.now });
  streams = new DecisionStreams(ring);
});
afterEach(() => {
  streams.close();
  vi.useRealTimers();
});

function happen(count: number): void {
  for (let i = 0; i < count; i++) ring.undecided('deadline', false, performance.now());
}

function readerOf(options: Partial<StreamOptions> = {}) {
  const reader = streams.open({ ...ALL, ...options })!.getReader();
  return { read: async () => new TextDecoder().decode((await reader.read()).value), cancel: () => reader.cancel() };
}

const sent = (text: string): number => text.match(/^id: /gm)?.length ?? 0;

it('gives a reader that does not read no more than it asked for, and tells it what it missed', async () => {
  const { read, cancel } = readerOf();
  expect(await read()).toContain('event: recording');
  for (let round = 0; round < 20; round++) {
    happen(200);
    vi.advanceTimersByTime(1000);
  }

  // What was given when it last kept up, and what waits in the stream.
  const [first, second] = [await read(), await read()];
  expect(sent(first) + sent(second)).toBeLessThanOrEqual(400);

  vi.advanceTimersByTime(250);
  const late = await read();
  const missed = /"overwritten":(\d+)/.exec(late)?.[1];
  expect(Number(missed)).toBe(20 * 200 - RING_SIZE - sent(first) - sent(second));
  await cancel();
  expect(streams.readers).toBe(0);
});

it('sends something at least every ten seconds', async () => {
  const { read } = readerOf();
  await read();

  vi.advanceTimersByTime(10_000);

  expect(await read()).toBe(': still here\n\n');
});

it('keeps the ring awake as long as somebody reads', async () => {
  const { read, cancel } = readerOf();
  await read();
  vi.advanceTimersByTime(3 * LINGER_MS);
  happen(1);
  expect(ring.next).toBe(1);

  await cancel();
  vi.advanceTimersByTime(LINGER_MS + 1000);
  happen(1);
  expect(ring.next).toBe(1);
});

it('lets a burst of a second through', async () => {
  const { read } = readerOf({ perSecond: 100 });
  await read();
  vi.advanceTimersByTime(1000);
  happen(100);
  vi.advanceTimersByTime(250);
  const text = await read();

  expect([sent(text), text.includes('skipped')]).toEqual([100, false]);
});
