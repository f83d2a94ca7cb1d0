import { describe, expect, it } from 'vitest';
import { parseExposition } from '../../test/support/parse-exposition.ts';
import { createMetrics, renderMetrics } from '../telemetry/metrics.ts';
import { Breaker } from '../workers/breaker.ts';
import { bindBreakerMetrics } from './breaker-metrics.ts';

function shown(fleet: { instances: Iterable<{ id: string; breaker: Breaker }> }) {
  const metrics = createMetrics();
  bindBreakerMetrics(metrics, fleet);
  return () =>
    parseExposition(renderMetrics(metrics))
      .samples.filter(({ name }) => name.startsWith('smg_worker_cb_'))
      .map(({ name, labels, value }) =>
        [name.slice('smg_worker_cb_'.length), ...Object.values(labels), value].join(' '),
      );
}

describe('policies 8 metrics of the breakers', () => {
  it('show runs, outcomes and transitions of each worker, and end with it', () => {
    const breaker = new Breaker({ failureThreshold: 2, successThreshold: 1, openMs: 10 });
    const instances = [{ id: 'a', breaker }];
    const read = shown({ instances });

    expect(read()).toEqual([
      'consecutive_failures a 0',
      'consecutive_successes a 0',
      'transitions_total a closed open 0',
      'outcomes_total a success 0',
      'outcomes_total a failure 0',
    ]);

    breaker.record('success', 0);
    breaker.record('failure', 0);
    breaker.record('failure', 0);
    breaker.elapse(10);
    breaker.record('failure', 10);
    breaker.elapse(20);
    expect(read()).toEqual([
      'consecutive_failures a 0',
      'consecutive_successes a 0',
      'transitions_total a closed open 1',
      'transitions_total a open half_open 2',
      'transitions_total a half_open open 1',
      'transitions_total a half_open closed 0',
      'outcomes_total a success 1',
      'outcomes_total a failure 3',
    ]);

    instances.pop();
    expect(read()).toEqual([]);
  });
});
