import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Breaker, type BreakerRules, NEVER_OPENS, type Outcome, outcomeOf } from './breaker.ts';
import type { BreakerState } from './worker-kinds.ts';

const RULES: BreakerRules = { failureThreshold: 3, successThreshold: 2, openMs: 1000 };

/** `f` failure, `s` success, `w` the open time passes, `.` all but one millisecond of it passes. */
function play(steps: string, rules: BreakerRules = RULES): Breaker {
  const breaker = new Breaker(rules);
  let now = 0;
  for (const step of steps) {
    if (step === 'f') breaker.record('failure', now);
    else if (step === 's') breaker.record('success', now);
    else {
      now += step === 'w' ? rules.openMs : rules.openMs - 1;
      breaker.elapse(now);
    }
  }
  return breaker;
}

describe('policies 2.3 transitions', () => {
  it.each<[string, string, BreakerState]>([
    ['nothing yet', '', 'closed'],
    ['one failure too few', 'ff', 'closed'],
    ['the n-th failure in a row', 'fff', 'open'],
    ['a success zeroes the run', 'ffsff', 'closed'],
    ['a run after a success', 'ffsfff', 'open'],
    ['successes alone', 'ssss', 'closed'],
    ['time does nothing to a closed one', 'ffwff', 'open'],
    ['open: time not over', 'fff.', 'open'],
    ['open: time over', 'fffw', 'half_open'],
    ['open: successes do not close it', 'fffsssss', 'open'],
    ['open: failures do not make it longer', 'fff.fff', 'open'],
    ['open: and it half-opens from its opening on', 'ffff.ff.', 'half_open'],
    ['half-open: any failure opens', 'fffwf', 'open'],
    ['half-open: a failure among successes opens', 'fffwsf', 'open'],
    ['half-open: one success too few', 'fffws', 'half_open'],
    ['half-open: enough successes', 'fffwss', 'closed'],
    ['half-open: successes from before do not count', 'fffsswss', 'closed'],
    ['half-open: failures from before do not count', 'ffffffwss', 'closed'],
    ['half-open: time does nothing', 'fffww', 'half_open'],
    ['opened again, it stays for a whole time', 'fffwf.', 'open'],
    ['and half-opens again', 'fffwfw', 'half_open'],
    ['closed again, it needs a whole run', 'fffwssff', 'closed'],
    ['and opens again', 'fffwssfff', 'open'],
  ])('%s: %s', (_, steps, state) => expect(play(steps).state).toBe(state));

  it.each<[string, boolean[]]>([
    ['fff', [false, false, true]],
    ['fffsf', [false, false, true, false, false]],
    ['fffwsss', [false, false, true, true, false, true, false]],
    ['fffwf', [false, false, true, true, true]],
  ])('%s tells each change of state, once', (steps, changes) => {
    const breaker = new Breaker(RULES);
    let now = 0;
    const told = [...steps].map((step) => {
      if (step !== 'w') return breaker.record(step === 's' ? 'success' : 'failure', now);
      now += RULES.openMs;
      return breaker.elapse(now);
    });
    expect(told).toEqual(changes);
  });

  it('tells how long it stays open', () => {
    const breaker = new Breaker({ ...RULES, failureThreshold: 1 });
    expect(breaker.openFor(5)).toBe(0);
    breaker.record('failure', 100);
    expect([breaker.openFor(100), breaker.openFor(700), breaker.openFor(1100), breaker.openFor(5000)]).toEqual([
      1000, 400, 0, 0,
    ]);
  });

  it('thresholds of 1', () => {
    const rules = { failureThreshold: 1, successThreshold: 1, openMs: 1 };
    expect([play('f', rules).state, play('fws', rules).state]).toEqual(['open', 'closed']);
  });

  it('never opens with --disable-circuit-breaker', () => {
    expect(play('f'.repeat(1000), { ...RULES, failureThreshold: NEVER_OPENS }).state).toBe('closed');
  });
});

describe('runs and sums, as the gauges of policies 8 show them', () => {
  it.each([
    ['ss', 0, 2, 0, 2],
    ['ssf', 1, 0, 1, 2],
    ['ff', 2, 0, 2, 0],
    ['fff', 3, 0, 3, 0],
    ['fffss', 0, 2, 3, 2],
    ['fffw', 0, 0, 3, 0],
    ['fffws', 0, 1, 3, 1],
    ['fffwsf', 1, 0, 4, 1],
    ['fffwss', 0, 0, 3, 2],
    ['fffwsss', 0, 1, 3, 3],
  ])('%s', (steps, failureRun, successRun, failures, successes) => {
    expect(play(steps)).toMatchObject({
      consecutiveFailures: failureRun,
      consecutiveSuccesses: successRun,
      failures,
      successes,
    });
  });
});

it.each([
  ['ff', 0, 0, 0, 0],
  ['ffff', 1, 0, 0, 0],
  ['fffw', 1, 1, 0, 0],
  ['fffwf', 1, 1, 1, 0],
  ['fffwss', 1, 1, 0, 1],
  ['fffwfwssfffwss', 2, 3, 1, 2],
])('transitions of %s', (steps, opened, halfOpened, reopened, closed) => {
  expect(play(steps).transitions).toEqual({ opened, halfOpened, reopened, closed });
});

describe('policies 2.3 outcome of a status', () => {
  it.each<[string, readonly number[], Outcome | null]>([
    ['no word', [429], null],
    ['failure', [408, 500, 502, 503, 504], 'failure'],
    ['success', [101, 200, 201, 204, 301, 400, 401, 403, 404, 409, 413, 422, 431, 501, 505, 507, 529, 599], 'success'],
  ])('%s: %j', (_, statuses, outcome) => {
    for (const status of statuses) expect(outcomeOf(status), String(status)).toBe(outcome);
  });
});

/** The rules in one expression each, over the whole history since the last change of state. */
function model(history: readonly (readonly [Outcome | 'look', number])[], rules: BreakerRules): BreakerState {
  let state: BreakerState = 'closed';
  let since: Outcome[] = [];
  let openedAt = 0;
  for (const [event, now] of history) {
    let next: BreakerState = state;
    if (event === 'look') {
      if (state === 'open' && now - openedAt >= rules.openMs) next = 'half_open';
    } else {
      since.push(event);
      const threshold = state === 'closed' ? rules.failureThreshold : 1;
      if (
        state !== 'open' &&
        since.length >= threshold &&
        since.slice(-threshold).every((each) => each === 'failure')
      ) {
        next = 'open';
        openedAt = now;
      } else if (
        state === 'half_open' &&
        since.filter((each) => each === 'success').length === rules.successThreshold
      ) {
        next = 'closed';
      }
    }
    if (next !== state) since = [];
    state = next;
  }
  return state;
}

it('policies 2.3: agrees with a plain reading of the rules over any history', () => {
  const rules = fc.record({
    failureThreshold: fc.integer({ min: 1, max: 4 }),
    successThreshold: fc.integer({ min: 1, max: 4 }),
    openMs: fc.integer({ min: 1, max: 20 }),
  });
  const event = fc.constantFrom<Outcome | 'look'>('failure', 'failure', 'success', 'look');
  const events = fc.array(fc.tuple(event, fc.integer({ min: 0, max: 8 })), { maxLength: 80 });
  fc.assert(
    fc.property(rules, events, (each, steps) => {
      const breaker = new Breaker(each);
      const history: [Outcome | 'look', number][] = [];
      let now = 0;
      for (const [kind, passed] of steps) {
        now += passed;
        history.push([kind, now]);
        const before = breaker.state;
        const changed = kind === 'look' ? breaker.elapse(now) : breaker.record(kind, now);
        expect(breaker.state).toBe(model(history, each));
        expect(changed).toBe(breaker.state !== before);
      }
    }),
  );
});
