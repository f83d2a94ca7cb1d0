/** The service without its ports: picker, fleet, pins, ledger and metrics wired as in src/service, and messages of an Envoy. */
import { randomFillSync } from 'node:crypto';

const dist = (path) => import(`../../dist/${path}.js`);
const { tryLoadSettings } = await dist('config/load-settings');
const { ExtAuthz } = await dist('envoy/ext-authz/ext-authz');
const { ExtProc } = await dist('envoy/ext-proc/ext-proc');
const { HeldTotal } = await dist('envoy/ext-proc/held-total');
const { readMessage } = await dist('envoy/ext-proc/read-message');
const { CheckRequest } = await dist('gen/envoy/service/auth/v3/external_auth');
const { ProcessingRequest } = await dist('gen/envoy/service/ext_proc/v3/external_processor');
// A build from before there was one has none.
const recent = await dist('picker/decision-ring').catch(() => null);
const { PickCounters } = await dist('picker/pick-counters');
const { PickIds } = await dist('picker/pick-ids');
const { Picker } = await dist('picker/picker');
const { MemoryPinStore } = await dist('pins/memory-pin-store');
const { RequestIds } = await dist('request/request-id');
const { extAuthzObserver, extProcObserver } = await dist('service/observers');
const { ModelPolicies } = await dist('routing/model-policies');
const { Housekeeping } = await dist('service/housekeeping');
const { gatewayPolicyOf, pickerConfigOf } = await dist('service/picker-config');
const { createLog } = await dist('telemetry/log');
const { createMetrics } = await dist('telemetry/metrics');
// Likewise.
const { createDraws = () => ({ random: Math.random }) } = await dist('util/random');
const { InFlightLedger } = await dist('workers/in-flight-ledger');
const { Registry } = await dist('workers/registry');
const { parseWorkerSpec } = await dist('workers/worker-spec');

export const FACTS = { periodicLogMs: 10_000, endpointPicker: false, editsBody: true, pickId: null, subset: null };
export const HEADER_STREAM = {
  requestBodyMode: 0,
  responseBodyMode: 0,
  sendBodyWithoutWaitingForHeaderResponse: false,
};

/** Requests that may be open at once. */
const MOST_OPEN = 1000;

/** A fleet of ready workers that list one model. */
export function fleetOf(count) {
  const registry = new Registry();
  const specs = Array.from({ length: count }, (_, i) => {
    const parsed = parseWorkerSpec({ url: `http://10.0.${i >> 8}.${i & 255}:8000`, models: [{ id: 'bench' }] });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
    return parsed.spec;
  });
  registry.replaceSource('flags', specs);
  for (const instance of registry.instances) registry.assumeReady(instance);
  registry.markSettled();
  return registry;
}

/**
 * @param env settings by environment variable, as `SMG_POLICY`
 * @param pins a store of its own when unset
 */
export function createWorld(workers, env, pins = new MemoryPinStore({ maxPins: 1_000_000 })) {
  const result = tryLoadSettings({ flags: [], env, readFile: () => '' });
  if (!result.ok) throw new Error(result.problems.join('\n'));
  const registry = fleetOf(workers);
  const ledger = new InFlightLedger({ workerById: (id) => registry.current.byId(id) });
  const metrics = createMetrics();
  const { settings } = result.loaded;
  const policies = new ModelPolicies(gatewayPolicyOf(settings));
  policies.follow(registry.current);
  const config = pickerConfigOf(settings, pins, { whole: policies, legs: null });
  const failed = (error) => {
    throw error;
  };
  const log = createLog({ level: 'error', json: true });
  const watch =
    recent === null
      ? { decided: () => {}, undecided: () => {} }
      : new recent.DecisionRing({ mode: settings.decisionRing, clock: () => performance.now(), wallClock: Date.now });
  const picker = new Picker(
    {
      fleet: registry,
      pins,
      ledger,
      counters: new PickCounters(metrics),
      watch,
      log,
      pickIds: new PickIds('0badcafe'),
      requestIds: new RequestIds((bytes) => randomFillSync(bytes)),
      ...createDraws(randomFillSync(new Uint32Array(4))),
      clock: () => performance.now(),
      envoyKnows: () => true,
      onFailure: failed,
    },
    config,
  );
  // Of a fixed size, so that keeping the ids allocates nothing.
  const open = Array.from({ length: MOST_OPEN }, () => '');
  let opened = 0;
  const pick = (head, body, facts) => {
    const answer = picker.pick(head, body, facts);
    if (answer.kind !== 'pick') throw new Error(`not placed: ${JSON.stringify(answer)}`);
    open[opened++] = answer.pickId;
    return answer;
  };
  const asked = {
    picker: {
      plan: (head) => picker.plan(head),
      pick,
      abandon: () => failed(new Error('abandoned')),
      responseBegan: () => undefined,
      streamEnded: () => undefined,
      stamp: () => null,
    },
    destinationHeader: 'auto',
    decisionTimeoutMs: 250,
  };
  const extAuthz = new ExtAuthz({ ...asked, observer: { ...extAuthzObserver(metrics, log), pickFailed: failed } });
  const extProc = new ExtProc({
    ...asked,
    observer: { ...extProcObserver(metrics, log), pickFailed: failed },
    testEndpointSelection: false,
    collectLimitBytes: 1 << 26,
    held: new HeldTotal(1 << 28),
    endsHeldStreams: true,
  });
  /** Ends every request, as the access log would have. */
  const endAll = () => {
    for (let i = 0; i < opened; i++) ledger.end(open[i]);
    opened = 0;
  };
  return {
    registry,
    pins,
    ledger,
    picker,
    policies,
    metrics,
    log,
    router: config.router,
    pick,
    extProc,
    extAuthz,
    endAll,
  };
}

/** Envoy's access log is there, and no end of a request is lost. */
const LOGS = { logStreams: 1, lastLogStreamClosedAt: null };

/**
 * The service's own timers over a world. To be closed.
 *
 * @param intervals those that differ from SMG's defaults
 */
export function housekeepingOf({ ledger, pins, policies, metrics, log }, intervals = {}) {
  const parts = { ledger, ends: LOGS, pins, policies, metrics, log, clock: () => performance.now() };
  return new Housekeeping(parts, { maxIdleSecs: 14_400, pinSweepSecs: 60, policyTendSecs: 120, ...intervals });
}

/** The headers of a chat request of an SDK, as Envoy sends them. */
function headersOf(more) {
  const headers = {
    ':authority': 'gateway.example.com',
    ':path': '/v1/chat/completions',
    ':method': 'POST',
    ':scheme': 'http',
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'OpenAI/JS 5.0.0',
    'x-stainless-lang': 'js',
    'x-stainless-package-version': '5.0.0',
    'x-stainless-os': 'Linux',
    'x-stainless-arch': 'x64',
    'x-stainless-runtime': 'node',
    'accept-encoding': 'gzip, deflate',
    'x-forwarded-proto': 'http',
    'x-request-id': '4a5f0c6e-7f6e-4a3f-9d55-52b6c9d1f3aa',
    ...more,
  };
  return Object.entries(headers).map(([key, value]) => ({ key, rawValue: Buffer.from(value) }));
}

/** The check that Envoy asks for with `encode_raw_headers`. */
export function checkMessage(more) {
  const headerMap = { headers: headersOf(more) };
  const http = {
    method: 'POST',
    path: '/v1/chat/completions',
    host: 'gateway.example.com',
    protocol: 'HTTP/1.1',
    headerMap,
  };
  return Buffer.from(CheckRequest.encode({ attributes: { request: { http } } }).finish());
}

/** The header message that Envoy sends. */
export function headersMessage(more, endOfStream = false) {
  const value = { headers: { headers: headersOf(more) }, endOfStream };
  return encode({ request: { $case: 'requestHeaders', value }, protocolConfig: HEADER_STREAM });
}

export function bodyMessage(body) {
  return encode({ request: { $case: 'requestBody', value: { body, endOfStream: true } } });
}

/** The head of a header message, as a stream would see it. */
export function headOf(message) {
  return readMessage(message).head;
}

function encode(message) {
  return Buffer.from(ProcessingRequest.encode(message).finish());
}
