import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CounterSeries, POINTS, STEP_SECS } from './series.ts';

function counter(name: string) {
  const state = { value: 0 };
  return { state, named: { name, read: () => state.value } };
}

describe('growth of counters', () => {
  it('is what was added, by the time that really passed', () => {
    const { state, named } = counter('decisions');
    state.value = 1000;
    const series = new CounterSeries([named], 100);

    state.value += 50;
    series.sample(105);
    state.value += 50;
    series.sample(115);

    expect(series.read()).toEqual({ stepSecs: STEP_SECS, at: [105, 115], rates: { decisions: [10, 5] } });
  });

  it('keeps fifteen minutes, the oldest first', () => {
    const { state, named } = counter('a');
    const series = new CounterSeries([named], 0);
    for (let i = 1; i <= POINTS + 3; i++) {
      state.value += i * STEP_SECS;
      series.sample(i * STEP_SECS);
    }

    const { at, rates } = series.read();
    expect([at.length, at[0], at.at(-1)]).toEqual([POINTS, 4 * STEP_SECS, (POINTS + 3) * STEP_SECS]);
    expect([rates['a']?.[0], rates['a']?.at(-1)]).toEqual([4, POINTS + 3]);
  });

  it('a clock that was set back gives no infinite or negative rate', () => {
    const { state, named } = counter('a');
    const series = new CounterSeries([named], 1000);
    state.value = 10;
    series.sample(1000);
    state.value = 20;
    series.sample(10);

    expect(series.read().rates).toEqual({ a: [2, 2] });
  });

  it('sums up to all that was added', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: POINTS }), (growths) => {
        const { state, named } = counter('a');
        const series = new CounterSeries([named], 0);
        growths.forEach((growth, i) => {
          state.value += growth;
          series.sample((i + 1) * STEP_SECS);
        });

        expect(series.grown('a')).toBe(growths.reduce((sum, growth) => sum + growth, 0));
        expect(series.grown('b')).toBe(0);
      }),
    );
  });
});
