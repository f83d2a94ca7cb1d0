import { expect, it } from 'vitest';
import { untilJudged } from './first-look.ts';

it('has nothing to wait for once the fleet was judged', async () => {
  expect(await untilJudged({ judged: true }, 0)).toBe(true);
});

it('waits for the verdicts', async () => {
  const fleet = { judged: false };
  const look = untilJudged(fleet, 60_000);
  const turn = new Promise((resolve) => setImmediate(() => resolve('waits')));

  expect(await Promise.race([look, turn])).toBe('waits');
  fleet.judged = true;

  expect(await look).toBe(true);
});

it('gives up on workers that do not answer', async () => {
  expect(await untilJudged({ judged: false }, 20)).toBe(false);
});
