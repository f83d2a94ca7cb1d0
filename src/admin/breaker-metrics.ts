import type { Metrics } from '../telemetry/metrics.ts';
import type { BreakerView } from '../workers/breaker.ts';

/** Whose breakers are shown. The registry is one. */
export interface BreakerFleet {
  readonly instances: Iterable<{ readonly id: string; readonly breaker: BreakerView }>;
}

/** Lets what the breakers counted be read at each scrape (policies 8). Series of a removed worker end. */
export function bindBreakerMetrics(metrics: Metrics, fleet: BreakerFleet): void {
  const { workerCbFailureRun, workerCbSuccessRun, workerCbOutcomes, workerCbTransitions } = metrics;
  workerCbFailureRun.onScrape(() => {
    workerCbFailureRun.clear();
    for (const { id, breaker } of fleet.instances) workerCbFailureRun.cell(id).value = breaker.consecutiveFailures;
  });
  workerCbSuccessRun.onScrape(() => {
    workerCbSuccessRun.clear();
    for (const { id, breaker } of fleet.instances) workerCbSuccessRun.cell(id).value = breaker.consecutiveSuccesses;
  });
  workerCbOutcomes.onScrape(() => {
    workerCbOutcomes.clear();
    for (const { id, breaker } of fleet.instances) {
      workerCbOutcomes.cell(id, 'success').value = breaker.successes;
      workerCbOutcomes.cell(id, 'failure').value = breaker.failures;
    }
  });
  workerCbTransitions.onScrape(() => {
    workerCbTransitions.clear();
    for (const { id, breaker } of fleet.instances) {
      const { opened, halfOpened, reopened, closed } = breaker.transitions;
      workerCbTransitions.cell(id, 'closed', 'open').value = opened;
      // The others cannot have happened yet.
      if (opened === 0) continue;
      workerCbTransitions.cell(id, 'open', 'half_open').value = halfOpened;
      workerCbTransitions.cell(id, 'half_open', 'open').value = reopened;
      workerCbTransitions.cell(id, 'half_open', 'closed').value = closed;
    }
  });
}
