import { describe, expect, it } from 'vitest';
import { afterProbe, type HealthState, type HealthStatus, PENDING, READY } from './status-machine.ts';

const defaults = { successThreshold: 2, failureThreshold: 3 };

/** `+` a success, `-` a failure, `.` a failing start-up probe that does not count. */
function run(start: HealthState, probes: string, thresholds = defaults): HealthState {
  let state = start;
  for (const probe of probes) state = afterProbe(state, probe === '+', thresholds, probe !== '.');
  return state;
}

const notReady = run(READY, '---');
const failed = run(notReady, '-'.repeat(9));

describe('policies 2.1 status machine', () => {
  it.each<[string, HealthState, string, HealthStatus]>([
    ['Pending stays with one success', PENDING, '+', 'pending'],
    ['Pending -> Ready after 2 successes in a row', PENDING, '++', 'ready'],
    ['Pending stays when a failure breaks the run', PENDING, '+-+', 'pending'],
    ['Pending stays with 29 probes', PENDING, '-'.repeat(29), 'pending'],
    ['Pending -> Failed with 30 probes', PENDING, '-'.repeat(30), 'failed'],
    ['Pending -> Failed even if the last probe succeeded', PENDING, `${'-'.repeat(29)}+`, 'failed'],
    ['Pending -> Ready with the 30th probe', PENDING, `${'-'.repeat(28)}++`, 'ready'],
    ['extra start-up probes do not fail a worker', PENDING, '.'.repeat(100), 'pending'],
    ['Ready stays with 2 failures', READY, '--', 'ready'],
    ['Ready -> NotReady after 3 failures in a row', READY, '---', 'not_ready'],
    ['Ready stays when a success breaks the run', READY, '--+--', 'ready'],
    ['NotReady -> Ready after 2 successes in a row', notReady, '++', 'ready'],
    ['NotReady stays when a failure breaks the run', notReady, '+-+', 'not_ready'],
    ['NotReady stays with 8 failures', notReady, '-'.repeat(8), 'not_ready'],
    ['NotReady -> Failed after 9 failures, counted from zero', notReady, '-'.repeat(9), 'failed'],
    ['NotReady stays when a success breaks the run', notReady, `${'-'.repeat(8)}+${'-'.repeat(8)}`, 'not_ready'],
    ['Failed stays with one success', failed, '+', 'failed'],
    ['Failed stays when a failure breaks the run', failed, '+-+', 'failed'],
    ['Failed -> Ready after 2 successes in a row, as SMG 1.11 does', failed, '-++', 'ready'],
  ])('%s', (_, start, probes, expected) => {
    expect(run(start, probes).status).toBe(expected);
  });

  it.each<[string, HealthState, string, HealthStatus]>([
    ['one success is enough', PENDING, '+', 'ready'],
    ['Ready -> NotReady', READY, '-', 'not_ready'],
    ['NotReady stays', READY, '---', 'not_ready'],
    ['NotReady -> Failed', READY, '----', 'failed'],
    ['Pending -> Failed', PENDING, '-'.repeat(10), 'failed'],
  ])('thresholds of 1: %s', (_, start, probes, expected) => {
    expect(run(start, probes, { successThreshold: 1, failureThreshold: 1 }).status).toBe(expected);
  });
});
