import { workerStamp } from '../../src/envoy/endpoints/worker-stamp.ts';
import { ExtProc } from '../../src/envoy/ext-proc/ext-proc.ts';
import { NotedEvents } from '../../src/envoy/ext-proc/fixture.suite.ts';
import { HeldTotal } from '../../src/envoy/ext-proc/held-total.ts';
import type { StreamPicker } from '../../src/envoy/ext-proc/stream-picker.ts';
import { HealthService } from '../../src/envoy/health/health-service.ts';
import { ReflectionService } from '../../src/envoy/reflection/reflection-service.ts';
import type { Certificate } from '../../src/sim/certificate.ts';
import { http2Transport } from '../../src/transport/http2/http2-transport.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { PickerBench } from '../support/picker-bench.ts';
import { PICK_HEADER } from './workers.ts';

const MESSAGE_BYTES = 1 << 24;

/** The services that clients ask for, over a real registry and router, on our transport with TLS; it listens nowhere yet. */
export function startTlsService(workers: readonly string[], certificate: Certificate): Transport {
  const bench = new PickerBench({ policy: 'round_robin' });
  for (const url of workers) bench.addUrl(url);
  bench.registry.markSettled();
  const extProc = new ExtProc({
    picker: streamPicker(bench),
    observer: new NotedEvents(),
    destinationHeader: PICK_HEADER,
    testEndpointSelection: false,
    decisionTimeoutMs: 250,
    collectLimitBytes: MESSAGE_BYTES,
    held: new HeldTotal(MESSAGE_BYTES),
    endsHeldStreams: true,
  });
  const methods = [extProc, ...new HealthService(true).methods, ...new ReflectionService().methods];
  return http2Transport(methods, {
    maxReceiveBytes: MESSAGE_BYTES,
    onHandlerError: (path, error) => process.stderr.write(`${path}: ${String(error)}\n`),
    tls: { cert: certificate.cert, key: certificate.key },
  });
}

function streamPicker({ picker, feedback, registry }: PickerBench): StreamPicker {
  return {
    plan: (head) => picker.plan(head),
    pick: (head, body, facts) => picker.pick(head, body, facts),
    reservePickId: () => picker.reservePickId(),
    abandon: (pickId) => picker.abandon(pickId),
    responseBegan: (response) => feedback.responseBegan(response),
    streamEnded: (pickId) => feedback.streamEnded(pickId),
    stamp: (address, rank) => {
      const worker = registry.current.byAddress(address);
      return worker === undefined ? null : workerStamp(worker, 'url', rank);
    },
  };
}
