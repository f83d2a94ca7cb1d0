import { expect } from 'vitest';
import { type AdminParts, createAdminApp } from '../../src/admin/admin-app.ts';
import type { EnvoyFacts } from '../../src/admin/dashboard/envoy-facts.ts';
import { PinCensus } from '../../src/admin/dashboard/pin-census.ts';
import { CounterSeries } from '../../src/admin/dashboard/series.ts';
import { DecisionStreams } from '../../src/admin/decision-stream.ts';
import { bindFleetMetrics } from '../../src/admin/fleet-metrics.ts';
import { type AdminServer, listenAdmin } from '../../src/admin/listen-admin.ts';
import type { PinRules } from '../../src/admin/pin-address.ts';
import type { ServiceState } from '../../src/admin/readiness.ts';
import { DnsSource } from '../../src/discovery/dns/dns-source.ts';
import { DecisionRing } from '../../src/picker/decision-ring.ts';
import { MemoryPinStore } from '../../src/pins/memory-pin-store.ts';
import type { PinStore } from '../../src/pins/pin-store.ts';
import { createRouter } from '../../src/routing/router.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { startProcessMetrics } from '../../src/telemetry/process-metrics.ts';
import { askWorker } from '../../src/workers/ask-worker.ts';
import { Registry } from '../../src/workers/registry.ts';
import type { RegistryOptions } from '../../src/workers/registry-options.ts';
import { DiscoveryLog } from './discovery-log.ts';
import { specOf } from './registry-bench.ts';
import { modelPolicies, policyOptions, ROUTER_DEFAULTS, SMG_KEYS } from './routing.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed body of a JSON answer, else undefined. */
  readonly json: ReturnType<typeof JSON.parse>;
}

/** An admin API on a loopback port, over a real registry that nothing probes. */
export class AdminBench {
  readonly registry: Registry;
  readonly names: DnsSource;
  /** Lines of the log, as JSON. */
  readonly logged: string[] = [];
  state: ServiceState = { draining: false, sources: [], endOfRequest: 'access_log', pinStore: null };
  #server: AdminServer | null = null;

  constructor(options: RegistryOptions = {}) {
    this.registry = new Registry(options);
    const lookUp = async () => ['10.0.0.1', '10.0.0.2'];
    this.names = new DnsSource({ sink: this.registry, observer: new DiscoveryLog(), lookUp });
  }

  /** Where pins are under the sticky override. */
  pinRules(pins: PinStore): PinRules {
    const policies = modelPolicies('round_robin', policyOptions());
    const router = createRouter({ ...ROUTER_DEFAULTS, policies, pins, keys: SMG_KEYS });
    return { router, modelAliases: new Map(), tenants: false };
  }

  readonly ring = new DecisionRing({ mode: 'auto', clock: () => performance.now(), wallClock: Date.now });
  readonly series = new CounterSeries([], 0);
  envoy: EnvoyFacts = {
    connections: 0,
    openCalls: 0,
    logStreams: 0,
    endpoints: { version: 0, acks: 0, nacks: 0, lastNack: null, clients: [] },
  };
  readonly streams = new DecisionStreams(this.ring);

  parts(overrides: Partial<AdminParts> = {}): AdminParts {
    const metrics = createMetrics();
    bindFleetMetrics(metrics, this.registry);
    const pins = overrides.pins ?? new MemoryPinStore({ maxPins: 10 });
    return {
      fleet: this.registry,
      names: this.names,
      schemes: new Set(['http']),
      ask: askWorker,
      decisions: { ring: this.ring, streams: this.streams },
      explainer: {
        explain: () => {
          throw new Error('nothing decides here');
        },
      },
      census: new PinCensus({ pins, fleet: this.registry, clock: () => 0 }),
      dashboard: {
        assets: null,
        looked: () => {},
        series: this.series,
        envoy: () => this.envoy,
        setUp: () => ({ needsLoads: false, transport: 'http2', adminIsOpen: false, certificates: [] }),
        tenants: () => false,
      },
      pins,
      pinRules: () => this.pinRules(pins),
      clock: () => 0,
      metrics,
      processMetrics: startProcessMetrics(),
      state: () => this.state,
      config: () => ({ policy: 'round_robin', max_pins: 7 }),
      keys: [],
      log: createLog({ level: 'debug', json: true, destination: { write: (line: string) => this.logged.push(line) } }),
      version: '1.2.3',
      startedAt: 1_700_000_000,
      ...overrides,
    };
  }

  /** Opens the API; may be called again for another set-up. */
  async open(overrides: Partial<AdminParts> = {}): Promise<this> {
    return this.serve(createAdminApp(this.parts(overrides)));
  }

  async serve(app: Parameters<typeof listenAdmin>[0], host = '127.0.0.1', port = 0): Promise<this> {
    await this.#server?.close();
    this.#server = await listenAdmin(app, host, port);
    return this;
  }

  async close(): Promise<void> {
    await this.#server?.close();
    this.#server = null;
    this.names.close();
    this.registry.close();
  }

  get address(): string {
    return this.#server!.address;
  }

  get base(): string {
    return `http://${this.address}`;
  }

  addPending(url: string, fields: Record<string, unknown> = {}): void {
    this.registry.add(specOf(url, fields), 'flags');
  }

  addReady(url: string, fields: Record<string, unknown> = {}): void {
    this.addPending(url, fields);
    const instance = this.registry.instance(url)!;
    this.registry.modelsAnswered(instance, []);
    this.registry.assumeReady(instance);
  }

  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<AdminAnswer> {
    const type = { 'content-type': 'application/json' };
    const init: RequestInit = { method, headers: body === undefined ? { ...headers } : { ...type, ...headers } };
    if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(this.base + path, init);
    const text = await response.text();
    const isJson = text !== '' && response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }
}

/** Checks an answer in the error envelope (interface 10, decisions 41). */
export function expectError(answer: AdminAnswer, status: number, code: string, type: string): void {
  expect([answer.status, answer.headers.get('x-smg-error-code')]).toEqual([status, code]);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.json).toEqual({ error: { type, code, message: expect.stringMatching(/./), param: null } });
}
