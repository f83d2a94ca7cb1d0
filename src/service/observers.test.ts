import { expect, it } from 'vitest';
import { createLog } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { extAuthzObserver, extProcObserver } from './observers.ts';

it.each([
  ['ext_proc', extProcObserver],
  ['ext_authz', extAuthzObserver],
])('a request that %s lets go on without a pick is counted and told', (_name, observerOf) => {
  const metrics = createMetrics();
  const told: string[] = [];
  const observer = observerOf(metrics, createLog({ level: 'error', json: true }), (cause) => told.push(cause));

  observer.passed('deadline');
  observer.passed('protocol_error');

  expect(told).toEqual(['deadline', 'protocol_error']);
  expect(metrics.passes.cell('deadline').value).toBe(1);
});
