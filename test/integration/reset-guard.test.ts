import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExtProc } from '../../src/envoy/ext-proc/ext-proc.ts';
import { HeldTotal } from '../../src/envoy/ext-proc/held-total.ts';
import type { ExtProcObserver } from '../../src/envoy/ext-proc/observer.ts';
import type { StreamPicker } from '../../src/envoy/ext-proc/stream-picker.ts';
import type { Answer, BodyBytes, BodyPlan, StreamFacts } from '../../src/picker/answer.ts';
import type { RequestHead } from '../../src/request/request-head.ts';
import { grpcJsTransport } from '../../src/transport/grpc-js.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { Child } from '../support/child.ts';
import { type EnvoyHandle, noEnvoy, startEnvoy } from '../support/envoy.ts';
import { extProcBootstrap } from '../support/ext-proc-bootstrap.ts';
import { freePort } from '../support/ports.ts';
import { until } from '../support/until.ts';

/** Requests per second, and for how long. A longer run: RESET_GUARD_SECONDS. */
const RATE = 1000;
const SECONDS = Number(process.env['RESET_GUARD_SECONDS'] ?? 8);
const ENVOY_THREADS = 2;

/** Sends each request to the worker that its `x-want` header counts out; reads the body of those that have one. */
class WantedWorker implements StreamPicker {
  readonly ports: readonly number[];
  picks = 0;
  reserved = 0;
  bodies = 0;
  abandoned = 0;
  ended = 0;

  constructor(ports: readonly number[]) {
    this.ports = ports;
  }

  plan(head: RequestHead): BodyPlan {
    return head.method === 'POST'
      ? { readBody: true, reason: 'routing_key_override' }
      : { readBody: false, reason: 'no_body' };
  }

  reservePickId(): string {
    return `p${++this.reserved}`;
  }

  pick(head: RequestHead, body: BodyBytes | null, { pickId }: StreamFacts): Answer {
    this.picks += 1;
    if (body !== null) this.bodies += 1;
    const port = this.ports[Number(Buffer.from(head.first('x-want') ?? []).toString())];
    return {
      kind: 'pick',
      pickId: pickId ?? this.reservePickId(),
      destination: `127.0.0.1:${port}`,
      strict: false,
      maxRetries: null,
      rank: null,
      requestId: null,
      decisionHeader: null,
      body: null,
      prefillHeader: null,
      prefillMirror: null,
    };
  }

  abandon(): void {
    this.abandoned += 1;
  }

  responseBegan(): void {}

  streamEnded(): void {
    this.ended += 1;
  }

  stamp(): null {
    return null;
  }
}

describe.skipIf(noEnvoy())('envoy 3.3 streams at rate with the graceful guard', () => {
  const overridesIgnored = { count: 0 };
  const observer: ExtProcObserver = {
    messageReceived() {},
    answerSent() {},
    bodyPath() {},
    bodyRequested() {},
    overrideIgnored() {
      overridesIgnored.count += 1;
    },
    passed() {},
    pickFailed() {},
    headerLeftOut() {},
  };
  let picker: WantedWorker;
  let method: ExtProc;
  let transport: Transport;
  let envoy: EnvoyHandle;

  beforeAll(async () => {
    picker = new WantedWorker([await freePort(), await freePort()]);
    method = new ExtProc({
      picker,
      observer,
      destinationHeader: 'auto',
      testEndpointSelection: false,
      decisionTimeoutMs: 250,
      collectLimitBytes: 1 << 24,
      held: new HeldTotal(1 << 28),
      endsHeldStreams: false,
    });
    transport = grpcJsTransport([method], {
      maxReceiveBytes: 1 << 25,
      onHandlerError: (_path, error) => expect(error).toBeNull(),
    });
    const address = await transport.listen({ host: '127.0.0.1', port: 0 });
    const config = extProcBootstrap({
      listenPort: await freePort(),
      adminPort: await freePort(),
      pickerPort: Number(address.split(':')[1]),
      workerPorts: picker.ports,
      mode: {
        request_header_mode: 'SEND',
        response_header_mode: 'SKIP',
        request_trailer_mode: 'SKIP',
        response_trailer_mode: 'SKIP',
      },
      metadata: { 'x-smg-envoy': 'periodic=0' },
    });
    envoy = await startEnvoy(config, { concurrency: ENVOY_THREADS });
  });

  afterAll(async () => {
    await envoy?.stop();
    await transport?.close();
  });

  async function stat(name: string): Promise<number> {
    const text = await (await fetch(`${envoy.adminUrl}/stats?filter=^${name.replaceAll('.', '\\.')}$`)).text();
    return Number(text.split(': ')[1] ?? 0);
  }

  it(`loses no pick and no connection in ${SECONDS} s at ${RATE} requests/s`, {
    timeout: (SECONDS + 60) * 1000,
  }, async () => {
    const plan = { url: `${envoy.url}/v1/chat/completions`, rate: RATE, seconds: SECONDS, workerPorts: picker.ports };
    const load = new Child(process.execPath, ['test/support/paced-load.mjs', JSON.stringify(plan)]);
    expect(await load.ended()).toBe(0);
    const counts = JSON.parse(load.output);
    await until(() => method.openStreams === 0, 'every stream is over');

    const connections = await stat('cluster.picker.upstream_cx_total');
    const goneAway = await stat('cluster.picker.upstream_cx_close_notify');
    if (process.env['RESET_GUARD_SECONDS'] !== undefined) {
      const cpuSeconds = process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
      const rssMb = process.memoryUsage().rss / 1e6;
      process.stdout.write(`${JSON.stringify({ ...counts, connections, goneAway, cpuSeconds, rssMb })}\n`);
    }
    // More than the 1,000 resets at which a connection would have been closed.
    expect(counts.sent).toBeGreaterThan(1500);
    expect({ wrong: counts.wrong, failed: counts.failed, right: counts.right }).toEqual({
      wrong: 0,
      failed: 0,
      right: counts.sent,
    });
    expect(picker.picks).toBe(counts.sent);
    expect(picker.bodies).toBe(counts.bodies);
    // Each stream of a body pick was held until its response had ended (envoy 3.2).
    expect(picker.ended).toBe(counts.bodies);
    expect({ abandoned: picker.abandoned, overridesIgnored: overridesIgnored.count }).toEqual({
      abandoned: 0,
      overridesIgnored: 0,
    });
    expect(connections).toBeLessThanOrEqual(ENVOY_THREADS);
    expect(goneAway).toBe(0);
    expect(transport.openCalls).toBe(0);
  });
});
