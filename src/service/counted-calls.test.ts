import { expect, it } from 'vitest';
import { createMetrics } from '../telemetry/metrics.ts';
import type { Call, CallHandler } from '../transport/transport.ts';
import { countedCalls, serviceOf } from './counted-calls.ts';

const HANDLER: CallHandler = { message: () => {}, halfClosed: () => {}, closed: () => {} };
const CALL: Call = { metadata: () => undefined, send: () => {}, release: () => {}, end: () => {} };

it('counts each call under its service and opens it', () => {
  const metrics = createMetrics();
  const [check] = countedCalls([{ path: '/grpc.health.v1.Health/Check', open: () => HANDLER }], metrics);

  expect([check?.open(CALL), check?.open(CALL)]).toEqual([HANDLER, HANDLER]);
  expect(metrics.streams.cell('health').value).toBe(2);
  expect(metrics.streams.cell('ext_proc').value).toBe(0);
});

it('refuses a method without a label when the service is put together', () => {
  expect(() => serviceOf('/some.Service/Method')).toThrow('/some.Service/Method');
});
