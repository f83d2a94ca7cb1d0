/** The composition root: every part of the service is made and wired here. */
import { randomBytes, randomFillSync } from 'node:crypto';
import { createAdminApp, createMetricsApp } from '../admin/admin-app.ts';
import { bindBreakerMetrics } from '../admin/breaker-metrics.ts';
import { PinCensus } from '../admin/dashboard/pin-census.ts';
import { DecisionStreams } from '../admin/decision-stream.ts';
import { bindEngineMetrics } from '../admin/engine-metrics.ts';
import { bindFleetMetrics, bindPinMetrics } from '../admin/fleet-metrics.ts';
import { listenAdmin } from '../admin/listen-admin.ts';
import type { Loaded } from '../config/load-settings.ts';
import { modelAliases } from '../config/model-aliases.ts';
import { publicSettings } from '../config/public-settings.ts';
import { AccessLogService } from '../envoy/access-log/access-log-service.ts';
import { EndpointService } from '../envoy/endpoints/endpoint-service.ts';
import { workerStamp } from '../envoy/endpoints/worker-stamp.ts';
import { ExtAuthz } from '../envoy/ext-authz/ext-authz.ts';
import { ExtProc } from '../envoy/ext-proc/ext-proc.ts';
import { HeldTotal } from '../envoy/ext-proc/held-total.ts';
import type { StreamPicker } from '../envoy/ext-proc/stream-picker.ts';
import { HealthService } from '../envoy/health/health-service.ts';
import { ReflectionService } from '../envoy/reflection/reflection-service.ts';
import { Explainer } from '../explain/explainer.ts';
import { BreakerFeed } from '../picker/breaker-feed.ts';
import { DecisionRing } from '../picker/decision-ring.ts';
import { PickCounters } from '../picker/pick-counters.ts';
import { PickIds } from '../picker/pick-ids.ts';
import { Picker } from '../picker/picker.ts';
import { PinFollower } from '../picker/pin-follower.ts';
import { RequestEnds } from '../picker/request-ends.ts';
import { ServedFeedback } from '../picker/served-feedback.ts';
import { MemoryPinStore } from '../pins/memory-pin-store.ts';
import type { PinStore } from '../pins/pin-store.ts';
import { RequestIds } from '../request/request-id.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import type { PassReason } from '../telemetry/own-metrics.ts';
import { startProcessMetrics } from '../telemetry/process-metrics.ts';
import { createDraws, SEED_WORDS } from '../util/random.ts';
import { workerAsker } from '../workers/ask-worker.ts';
import { untilJudged } from '../workers/first-look.ts';
import { HealthChecker } from '../workers/health-checker.ts';
import { InFlightLedger } from '../workers/in-flight-ledger.ts';
import { LoadMonitor } from '../workers/load/load-monitor.ts';
import { Registry } from '../workers/registry.ts';
import { LOCAL_LOADS } from '../workers/shared-loads.ts';
import { countedCalls, serviceOf } from './counted-calls.ts';
import { createDashboard } from './dashboard.ts';
import { discoveryObserver } from './discovery-observer.ts';
import { beginDiscovery, discoveryOf } from './discovery-of.ts';
import { FleetPolicies } from './fleet-policies.ts';
import { Housekeeping, type HousekeepingIntervals } from './housekeeping.ts';
import {
  accessLogObserver,
  extAuthzObserver,
  extProcObserver,
  fleetObserver,
  loadObserver,
  transportObserver,
} from './observers.ts';
import { pickerConfigOf } from './picker-config.ts';
import { pinSweepSecs } from './pin-sweeps.ts';
import { bindPolicyMetrics } from './policy-metrics.ts';
import { createPrefillDispatch } from './prefill-dispatch.ts';
import { receiveLimitBytes } from './receive-limit.ts';
import { bindServiceMetrics } from './service-metrics.ts';
import { applyWorkers, healthSettingsOf, loadOptionsOf, registryOptionsOf } from './settings-to-fleet.ts';
import { settleWhenRead } from './settle.ts';
import { warnOfSharedAddresses } from './shared-addresses.ts';
import { openSharedState, type SharedState, type SharedStateParts, untilReached } from './shared-state.ts';
import { tlsOf } from './tls-of.ts';
import { transportOf } from './transport-of.ts';
import { schemesOf, upstreamOf } from './upstream-of.ts';

/** A service that answers Envoy. */
export interface RunningService {
  /** `HOST:PORT` or `unix:PATH`. */
  readonly grpcAddress: string;
  /** `HOST:PORT` of the admin API. */
  readonly adminAddress: string;
  /** Takes in a reload of the configuration: workers and everything that decides. */
  apply(loaded: Loaded): void;
  /** A reload was refused. */
  reloadFailed(): void;
  /** Tells Envoy that it is going, waits until Envoy has seen it, ends what is open (decisions 26). */
  drain(): Promise<void>;
  /** Ends everything at once. */
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly version: string;
  /** By default made from the settings. */
  readonly log?: Log;
}

/** What this process has of its own. */
interface OwnParts extends SharedStateParts {
  readonly version: string;
}

const DECISION_TIMEOUT_MS = 250;
/** Bodies that full-duplex streams hold at one moment: a quarter of the memory that the manifests allow. */
const HELD_BYTES = 256 * 1024 * 1024;
/** Longest wait of the gRPC port for the first verdicts on workers. */
const FIRST_LOOK_MS = 1000;
/** Longest wait of the gRPC port for the shared store. */
const FIRST_STORE_MS = 2000;
/** Three of the health checks that the generated configuration makes each second. */
const NOTICE_MS = 3000;

export async function startService(loaded: Loaded, options: ServiceOptions): Promise<RunningService> {
  const { settings } = loaded;
  const log = options.log ?? createLog({ level: settings.logLevel, json: settings.logJson });
  const clock = (): number => performance.now();
  const metrics = createMetrics();
  metrics.buildInfo.cell(options.version, process.versions.node).value = 1;
  const self = randomBytes(4).toString('hex');
  const shared = await openSharedState(settings, { self, metrics, log, clock });
  try {
    return await assemble(loaded, { version: options.version, self, metrics, log, clock }, shared);
  } catch (error) {
    await shared?.close();
    throw error;
  }
}

async function assemble(loaded: Loaded, parts: OwnParts, shared: SharedState | null): Promise<RunningService> {
  const { settings } = loaded;
  const { version, self, metrics, log, clock } = parts;
  const schemes = schemesOf(loaded);
  const upstream = upstreamOf(settings);
  const ask = workerAsker(upstream);
  const onFailure = (error: unknown): void =>
    log.error('an internal failure; requests go on without a pick', { error });

  const registry = new Registry({
    ...registryOptionsOf(settings),
    observer: fleetObserver(metrics, log),
    loads: shared?.loads ?? LOCAL_LOADS,
  });
  const pins: PinStore = shared?.pins ?? new MemoryPinStore({ maxPins: settings.maxPins });
  const ledger = new InFlightLedger({
    requestTimeoutMs: settings.requestTimeoutSecs * 1000,
    workerById: (id) => registry.current.byId(id),
  });
  const endpoints = new EndpointService({
    source: registry,
    stampKind: settings.routedWorkerId,
    onNack: (nack) => log.error('Envoy refused the endpoints', { reason: nack.message, version: nack.version }),
  });
  const policies = new FleetPolicies(settings, (worker, label) =>
    log.warn('the label policy of a worker names no policy; its models get the policy of the gateway', {
      worker: worker.id,
      reason: label,
    }),
  );
  registry.subscribe((snapshot) => policies.follow(snapshot));
  const prefills = await createPrefillDispatch(settings, { registry, metrics, upstream, clock });
  const ring = new DecisionRing({ mode: settings.decisionRing, clock, wallClock: Date.now });
  const streams = new DecisionStreams(ring);
  const picker = new Picker(
    {
      fleet: registry,
      pins,
      ledger,
      counters: new PickCounters(metrics),
      watch: ring,
      log,
      pickIds: new PickIds(self),
      requestIds: new RequestIds((bytes) => randomFillSync(bytes)),
      ...createDraws(randomFillSync(new Uint32Array(SEED_WORDS))),
      clock,
      envoyKnows: (address) => endpoints.acknowledged(address),
      onFailure,
      dispatch: prefills.dispatch,
      attempted: (workerId, outcome) => registry.attempted(workerId, outcome),
    },
    pickerConfigOf(settings, pins, policies),
  );
  const breakers = new BreakerFeed(registry, ledger);
  const follower = new PinFollower({ fleet: registry, pins, metrics, router: () => picker.router, onFailure });
  const told = { fleet: registry, pins, ledger, breakers, follower, clock };
  const ends = new RequestEnds({ ...told, metrics });
  const replicas = shared?.join(ends) ?? null;
  const logStreams = replicas ?? ends;
  const feedback = new ServedFeedback(told);
  const housekeeping = new Housekeeping(
    { ledger, ends: logStreams, pins, policies, metrics, log, clock },
    intervalsOf(loaded),
  );

  const requestPicker: StreamPicker = {
    plan: (head) => picker.plan(head),
    pick: (head, body, facts) => picker.pick(head, body, facts),
    reservePickId: () => picker.reservePickId(),
    abandon: (pickId) => picker.abandon(pickId),
    responseBegan: (response) => feedback.responseBegan(response),
    streamEnded: (pickId) => feedback.streamEnded(pickId),
    stamp: (address, rank) => {
      const worker = registry.current.byAddress(address);
      const stamp = worker === undefined ? '' : workerStamp(worker, settings.routedWorkerId, rank);
      return stamp === '' ? null : stamp;
    },
  };
  const asked = {
    picker: requestPicker,
    destinationHeader: settings.destinationHeader === 'off' ? '' : settings.destinationHeader,
    decisionTimeoutMs: DECISION_TIMEOUT_MS,
  };
  const passed = (cause: PassReason): void => ring.undecided(cause, false, clock());
  const extProc = new ExtProc({
    ...asked,
    observer: extProcObserver(metrics, log, passed),
    testEndpointSelection: settings.testEndpointSelection,
    collectLimitBytes: settings.maxPayloadSize,
    held: new HeldTotal(Math.max(HELD_BYTES, settings.maxPayloadSize)),
    endsHeldStreams: settings.transport === 'http2',
  });
  const extAuthz = new ExtAuthz({ ...asked, observer: extAuthzObserver(metrics, log, passed) });
  const accessLog = new AccessLogService({
    sink: replicas?.sink ?? ends,
    observer: accessLogObserver(metrics, log),
    now: clock,
    wallNow: Date.now,
  });
  const health = new HealthService(true);
  const reflection = new ReflectionService();
  const methods = [
    ...[extProc, extAuthz],
    ...accessLog.methods,
    ...endpoints.methods,
    ...health.methods,
    ...reflection.methods,
  ];
  const tls = tlsOf(settings, { metrics, log, wallClock: Date.now });
  const transport = (await transportOf(settings.transport))(countedCalls(methods, metrics), {
    maxReceiveBytes: receiveLimitBytes(settings),
    ...(tls === null ? {} : { tls: tls.options }),
    observer: transportObserver(metrics, log),
    onHandlerError: (path, error) => {
      metrics.handlerErrors.cell(serviceOf(path)).value += 1;
      log.error('a call failed inside the service', { method: path, error });
    },
  });

  const discovery = discoveryOf(loaded, {
    sink: registry,
    observer: discoveryObserver(metrics, log),
    schemes,
  });
  let draining = false;
  let effective = settings;
  const processMetrics = startProcessMetrics();
  const dashboard = createDashboard({
    settings: () => effective,
    metrics,
    policies,
    watchChanged: () => loadMonitor.reconsider(),
    envoy: { endpoints, transport, logStreams },
  });
  const census = new PinCensus({ pins, fleet: registry, clock });
  const admin = createAdminApp({
    metrics,
    processMetrics,
    log,
    fleet: registry,
    schemes,
    ask,
    pins,
    clock,
    decisions: { ring, streams },
    explainer: new Explainer({ picker, fleet: registry, pins, clock }),
    dashboard,
    census,
    pinRules: () => ({
      router: picker.router,
      modelAliases: modelAliases(effective.modelAlias),
      tenants: effective.tenantHeader !== null,
    }),
    names: discovery.dns,
    state: () => ({
      draining,
      sources: discovery.sources,
      endOfRequest: logStreams.logStreams > 0 ? 'access_log' : feedback.told ? 'stream' : 'age',
      pinStore: shared?.facts ?? null,
    }),
    config: () => publicSettings(effective),
    keys: settings.controlPlaneApiKeys,
    version,
    startedAt: Math.floor(Date.now() / 1000),
  });
  bindFleetMetrics(metrics, registry);
  bindBreakerMetrics(metrics, registry);
  bindEngineMetrics(metrics, registry, clock);
  warnOfSharedAddresses(registry, log);
  bindPinMetrics(metrics, pins);
  bindServiceMetrics({ metrics, ledger, ends, endpoints, transport });
  bindPolicyMetrics(metrics, policies);

  const fleet = { registry, names: discovery.dns };
  applyWorkers(fleet, loaded, schemes, log);
  const healthChecker = new HealthChecker(registry, {
    health: healthSettingsOf(settings),
    startupIntervalMs: settings.workerStartupCheckInterval * 1000,
    ask,
  });

  const loadMonitor = new LoadMonitor(registry, {
    ...loadOptionsOf(settings),
    needed: () => policies.needsLoads || (dashboard.watched && !effective.disableLoadMonitoring),
    ask,
    observer: loadObserver(metrics, log),
    clock,
  });

  const closers: (() => Promise<void> | void)[] = [
    () => housekeeping.close(),
    () => dashboard.close(),
    () => census.close(),
    () => discovery.close(),
    () => healthChecker.close(),
    () => loadMonitor.close(),
    () => prefills.close(),
    () => registry.close(),
    () => transport.close(),
    tls?.follow(transport) ?? (() => undefined),
    () => shared?.close(),
  ];
  const close = async (): Promise<void> => {
    streams.close();
    endpoints.close();
    accessLog.close();
    await Promise.all(closers.map((end) => end()));
  };

  try {
    await beginDiscovery(discovery);
    closers.push(settleWhenRead(registry, discovery));
    // Who has not read its sources can place no conversation where it belongs; another replica can.
    const welcome = (): void => health.setServing(registry.settled && !draining);
    closers.push(registry.subscribe(welcome));
    welcome();
    const adminServer = await listenAdmin(admin, settings.adminHost, settings.adminPort);
    closers.push(() => adminServer.close());
    if (settings.prometheusPort !== null) {
      const app = createMetricsApp({ metrics, processMetrics, log });
      const server = await listenAdmin(app, settings.prometheusHost, settings.prometheusPort);
      closers.push(() => server.close());
    }
    await Promise.all([untilJudged(registry, FIRST_LOOK_MS), shared && untilReached(shared, FIRST_STORE_MS)]);
    const { grpcSocket, grpcHost, grpcPort } = settings;
    const grpcAddress = await transport.listen(
      grpcSocket === null ? { host: grpcHost, port: grpcPort } : { socketPath: grpcSocket },
    );
    return {
      grpcAddress,
      adminAddress: adminServer.address,
      apply(next) {
        effective = next.settings;
        policies.configure(next.settings);
        shared?.configure(next.settings);
        picker.reconfigure(pickerConfigOf(next.settings, pins, policies));
        housekeeping.configure(intervalsOf(next));
        applyWorkers(fleet, next, schemes, log);
        loadMonitor.reconsider();
        ring.configure(next.settings.decisionRing);
        log.setLevel(next.settings.logLevel);
        metrics.configReloads.cell().value += 1;
      },
      reloadFailed() {
        metrics.configReloadFailures.cell().value += 1;
      },
      async drain() {
        draining = true;
        health.setServing(false);
        // An Envoy that only checks health, or asks by unary calls, has none open.
        if (transport.openConnections > 0) await new Promise((resolve) => setTimeout(resolve, NOTICE_MS));
        const idle = transport.drain();
        extProc.drain();
        endpoints.close();
        accessLog.close();
        health.close();
        reflection.close();
        await idle;
        // A decode that Envoy goes on with waits for what its prefill computes.
        await prefills.idle();
        await close();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function intervalsOf({ settings }: Loaded): HousekeepingIntervals {
  const { policyEvictionInterval, maxIdleSecs } = settings;
  return { maxIdleSecs, pinSweepSecs: pinSweepSecs(settings), policyTendSecs: policyEvictionInterval };
}
