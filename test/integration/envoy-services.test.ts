import { createServer, request as httpRequest, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccessLogService } from '../../src/envoy/access-log/access-log-service.ts';
import type { AccessLogObserver, RequestEndSink } from '../../src/envoy/access-log/request-end-sink.ts';
import { EndpointService } from '../../src/envoy/endpoints/endpoint-service.ts';
import { HealthService } from '../../src/envoy/health/health-service.ts';
import type { RequestEnd } from '../../src/picker/request-end.ts';
import { grpcJsTransport } from '../../src/transport/grpc-js.ts';
import type { Transport } from '../../src/transport/transport.ts';
import type { WorkerSnapshot } from '../../src/workers/snapshot.ts';
import type { SnapshotSource } from '../../src/workers/snapshot-source.ts';
import type { Worker } from '../../src/workers/worker.ts';
import { type EnvoyHandle, noEnvoy, startEnvoy } from '../support/envoy.ts';
import { makeSnapshot, makeWorker } from '../support/fleet.ts';
import { freePort } from '../support/ports.ts';
import { until } from '../support/until.ts';

class Fleet implements SnapshotSource {
  current: WorkerSnapshot = makeSnapshot([]);
  settled = false;
  private listener: (snapshot: WorkerSnapshot) => void = () => {};

  subscribe(listener: (snapshot: WorkerSnapshot) => void): () => void {
    this.listener = listener;
    return () => {};
  }

  set(...workers: Worker[]): void {
    this.settled = true;
    this.current = makeSnapshot(workers, this.current.version + 1);
    this.listener(this.current);
  }
}

class Ends implements RequestEndSink, AccessLogObserver {
  readonly ends = new Map<string, RequestEnd>();
  readonly lives: unknown[][] = [];
  readonly attemptFailed = (): void => {};
  readonly skipped = (): void => {};
  readonly malformed = (): void => {};
  readonly lags: number[] = [];
  streams = 0;

  ended(end: RequestEnd): void {
    this.ends.set(end.pickId, end);
  }
  alive(...told: unknown[]): void {
    this.lives.push(told);
  }
  logStreamOpened(): void {
    this.streams += 1;
  }
  logStreamClosed(): void {
    this.streams -= 1;
  }
  lagged(ms: number): void {
    this.lags.push(ms);
  }
}

/** A worker that answers at once, or on `/hold` begins an answer that the test ends. */
interface TestWorker {
  readonly server: Server;
  readonly address: string;
  readonly held: ServerResponse[];
}

describe.skipIf(noEnvoy())('a real Envoy with our services', () => {
  const fleet = new Fleet();
  const ends = new Ends();
  const endpoints = new EndpointService({ source: fleet, stampKind: 'name', onNack: () => {} });
  const health = new HealthService(true);
  const log = new AccessLogService({ sink: ends, observer: ends, now: () => performance.now(), wallNow: Date.now });
  let transport: Transport;
  let envoy: EnvoyHandle;
  let one: TestWorker;
  let two: TestWorker;
  let first: Worker;
  let second: Worker;

  beforeAll(async () => {
    [one, two] = [await startWorker(), await startWorker()];
    first = makeWorker('http://first', { name: 'first', address: one.address });
    second = makeWorker('http://second', { name: 'second', address: two.address, status: 'failed' });
    transport = grpcJsTransport([...endpoints.methods, ...health.methods, ...log.methods], {
      maxReceiveBytes: 1 << 20,
      onHandlerError: (path, error) => {
        throw new Error(path, { cause: error });
      },
    });
    const [, port] = (await transport.listen({ host: '127.0.0.1', port: 0 })).split(':');
    envoy = await startEnvoy(bootstrap(await freePort(), await freePort(), Number(port)));
  });

  afterAll(async () => {
    await envoy?.stop();
    endpoints.close();
    health.close();
    log.close();
    await transport?.close();
    for (const worker of [one, two]) {
      worker?.server.closeAllConnections();
      worker?.server.close();
    }
  });

  it('takes the fleet over both kinds of stream, with health and stamp, and acknowledges it', async () => {
    expect(endpoints.acknowledged(first.address)).toBe(false);
    fleet.set(first, second);

    await until(() => endpoints.acknowledged(first.address), 'acknowledged');
    const expected = { [first.address]: 'HEALTHY', [second.address]: 'UNHEALTHY' };
    await until(async () => same(await hosts('workers'), expected), 'over ADS');
    await until(async () => same(await hosts('workers_eds'), expected), 'over EDS');
    expect(endpoints.clients.map(({ node, current }) => [node, current])).toEqual([
      ['test', true],
      ['test', true],
    ]);
    const response = await fetch(envoy.url);
    expect(response.headers.get('x-smg-routed-worker-id')).toBe('first');
  });

  it('decisions 24: chooses a failing worker only when no other is left, and goes there when it is told to', async () => {
    const failing: Worker = { ...second, status: 'ready', breaker: 'open' };
    fleet.set(first, failing);
    const degraded = { [first.address]: 'HEALTHY', [second.address]: 'DEGRADED' };
    await until(async () => same(await hosts('workers'), degraded), 'degraded');
    expect(await served(30)).toEqual({ first: 30 });
    expect(await served(10, second.address)).toEqual({ second: 10 });

    // Half of the hosts are out: by default it would ask every one.
    fleet.set({ ...first, status: 'failed' }, failing);
    const left = { [first.address]: 'UNHEALTHY', [second.address]: 'DEGRADED' };
    await until(async () => same(await hosts('workers'), left), 'the other is out');
    expect(await served(30)).toEqual({ second: 30 });

    fleet.set(first, second);
    const before = { [first.address]: 'HEALTHY', [second.address]: 'UNHEALTHY' };
    await until(async () => same(await hosts('workers'), before), 'as before');
  });

  it('reports the end of a request and the client that left', async () => {
    await (await fetch(envoy.url, { headers: { 'x-pick-id': 'whole' } })).text();
    const whole = await until(() => ends.ends.get('whole'), 'end');
    expect(whole).toMatchObject({
      workerId: first.id,
      servedAddress: first.address,
      status: 200,
      codeDetails: 'via_upstream',
      attempts: 1,
      clientGone: false,
    });
    expect(whole.firstByteMs).toBeGreaterThan(0);
    expect(whole.durationMs).toBeGreaterThanOrEqual(whole.firstByteMs);
    expect(ends.lags.length).toBeGreaterThan(0);

    const client = hold('left');
    await until(() => ends.lives.find(([id]) => id === 'left'), 'proof of life');
    expect(ends.lives[0]).toEqual(['left', first.id, first.address, 200, expect.any(Number)]);
    client.destroy();
    expect(await until(() => ends.ends.get('left'), 'end')).toMatchObject({ status: 200, clientGone: true });
    expect(ends.streams).toBeGreaterThan(0);
  });

  it('keeps the old id for a request that runs while its worker is replaced at the same address', async () => {
    fleet.set(first, { ...second, status: 'draining' });
    one.held.length = 0;
    hold('across');
    const response = await until(() => one.held[0], 'worker reached');
    const replaced = makeWorker('http://replaced', { name: 'replaced', address: one.address });
    fleet.set(replaced, { ...second, status: 'draining' });
    await until(async () => (await fetch(envoy.url)).headers.get('x-smg-routed-worker-id') === 'replaced', 'new stamp');

    response.end();

    expect((await until(() => ends.ends.get('across'), 'end')).workerId).toBe(first.id);
    expect(await hosts('workers')).toEqual({ [first.address]: 'HEALTHY', [second.address]: 'DRAINING' });
  });

  it('keeps its endpoints when it refuses a version, whose reason we keep', async () => {
    const before = await hosts('workers');
    fleet.set(makeWorker('http://bad', { address: 'no-ip:1' }));

    await until(() => endpoints.lastNack, 'refusal');
    expect(endpoints.lastNack?.message).toContain('no-ip');
    expect(await hosts('workers')).toEqual(before);
    expect(endpoints.acknowledged('no-ip:1')).toBe(false);
  });

  it('is emptied when the fleet is, and follows our health', async () => {
    fleet.set();
    await until(async () => same(await hosts('workers'), {}), 'empty');

    const picker = async (): Promise<string> => Object.values(await hosts('picker', 'failed_active_health_check'))[0]!;
    expect(await picker()).toBe('undefined');
    health.setServing(false);
    await until(async () => (await picker()) === 'true', 'drain seen');
  });

  /** Which worker answers so many requests, by its stamp. */
  async function served(count: number, destination?: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (let n = 0; n < count; n++) {
      const headers = destination === undefined ? {} : { 'x-destination': destination };
      const name = (await fetch(envoy.url, { headers })).headers.get('x-smg-routed-worker-id') ?? '';
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  /** Opens a request whose answer stays open. */
  function hold(pickId: string): ReturnType<typeof httpRequest> {
    const client = httpRequest(`${envoy.url}/hold`, { headers: { 'x-pick-id': pickId } }, (res) => res.resume());
    client.on('error', () => {});
    client.end();
    return client;
  }

  /** Health of each host of a cluster, as Envoy's admin interface tells it. */
  async function hosts(cluster: string, field = 'eds_health_status'): Promise<Record<string, string>> {
    const clusters = (await (await fetch(`${envoy.adminUrl}/clusters?format=json`)).json()) as Clusters;
    const statuses = clusters.cluster_statuses.find(({ name }) => name === cluster)?.host_statuses ?? [];
    return Object.fromEntries(
      statuses.map(({ address: { socket_address: at }, health_status }) => [
        `${at.address}:${at.port_value}`,
        String(health_status[field]),
      ]),
    );
  }
});

interface Clusters {
  readonly cluster_statuses: readonly {
    readonly name: string;
    readonly host_statuses?: readonly {
      readonly address: { readonly socket_address: { readonly address: string; readonly port_value: number } };
      readonly health_status: Readonly<Record<string, unknown>>;
    }[];
  }[];
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

async function startWorker(): Promise<TestWorker> {
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    response.writeHead(200).write('begun');
    if (request.url === '/hold') held.push(response);
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, held, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function bootstrap(port: number, adminPort: number, picker: number): string {
  const grpc = '{transport_api_version: V3, api_type: GRPC, grpc_services: [{envoy_grpc: {cluster_name: picker}}]}';
  const type = 'type.googleapis.com/envoy';
  return `
node: {id: test, cluster: test}
admin: {address: {socket_address: {address: 127.0.0.1, port_value: ${adminPort}}}}
dynamic_resources: {ads_config: ${grpc}}
static_resources:
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: ${port}}}
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          "@type": ${type}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: test
          access_log_options: {access_log_flush_interval: 0.1s}
          access_log:
          - name: als
            typed_config:
              "@type": ${type}.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig
              common_config:
                log_name: test
                transport_api_version: V3
                buffer_size_bytes: 0
                grpc_service: {envoy_grpc: {cluster_name: picker}}
                custom_tags: [{tag: worker, metadata: {kind: {host: {}}, metadata_key: {key: worker, path: [{key: id}]}}}]
          http_filters:
          - name: pick
            typed_config:
              "@type": ${type}.extensions.filters.http.header_to_metadata.v3.Config
              request_rules:
              - {header: x-pick-id, on_header_present: {metadata_namespace: picker, key: pick_id}}
              - {header: x-destination, on_header_present: {metadata_namespace: envoy.lb, key: destination}}
          - name: router
            typed_config: {"@type": ${type}.extensions.filters.http.router.v3.Router}
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              response_headers_to_add: [{header: {key: x-smg-routed-worker-id, value: "%UPSTREAM_METADATA(worker:stamp)%"}}]
              routes: [{match: {prefix: /}, route: {cluster: workers, timeout: 0s}}]
  clusters:
  - name: workers
    type: EDS
    eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3, initial_fetch_timeout: 1s}}
    load_balancing_policy:
      policies:
      - typed_extension_config:
          name: envoy.load_balancing_policies.override_host
          typed_config:
            "@type": ${type}.extensions.load_balancing_policies.override_host.v3.OverrideHost
            override_host_sources: [{metadata: {key: envoy.lb, path: [{key: destination}]}}]
            fallback_policy:
              policies:
              - typed_extension_config:
                  name: envoy.load_balancing_policies.least_request
                  typed_config: {"@type": "${type}.extensions.load_balancing_policies.least_request.v3.LeastRequest"}
  - name: workers_eds
    type: EDS
    eds_cluster_config: {service_name: other, eds_config: {resource_api_version: V3, initial_fetch_timeout: 1s, api_config_source: ${grpc}}}
  - name: picker
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": ${type}.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
    health_checks: [{timeout: 1s, interval: 0.1s, no_traffic_interval: 0.1s, unhealthy_threshold: 1, healthy_threshold: 1, grpc_health_check: {service_name: readiness}}]
    load_assignment: {cluster_name: picker, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: ${picker}}}}}]}]}
`;
}
