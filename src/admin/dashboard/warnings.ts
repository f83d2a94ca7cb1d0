/** What an operator should know of, in plain words: what it is, what follows from it, what helps. */

import type { SnapshotSource } from '../../workers/snapshot-source.ts';
import type { Worker } from '../../workers/worker.ts';
import { type NotReadyReason, notReadyReason, type ServiceState } from '../readiness.ts';
import type { EnvoyFacts } from './envoy-facts.ts';

export interface Warning {
  /** Stays the same while the trouble does. */
  readonly code: string;
  /** `bad`: requests suffer, or will soon. `look`: something is less than it could be. */
  readonly level: 'bad' | 'look';
  readonly title: string;
  readonly text: string;
}

export interface WarningFacts {
  readonly fleet: SnapshotSource;
  readonly state: ServiceState;
  readonly envoy: EnvoyFacts;
  /** Over the last 15 minutes. */
  readonly recent: { readonly decisions: number; readonly refused: number; readonly passed: number };
  /** Some policy, or the overload protection, goes by what engines tell of their load. */
  readonly needsLoads: boolean;
  readonly transport: 'http2' | 'grpc-js';
  /** The admin API is open to everybody, and not on loopback alone. */
  readonly adminIsOpen: boolean;
  readonly bodyOverridesIgnored: number;
  readonly reloadFailures: number;
  /** Certificates in use, with the end of their validity in milliseconds since the epoch. */
  readonly certificates: readonly { readonly name: string; readonly notAfter: number }[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;
/** Names in one text. */
const MOST_NAMES = 5;

/** The worst first. */
export function warningsOf(facts: WarningFacts): readonly Warning[] {
  const all = [
    ...ofReadiness(facts),
    ...ofEnvoy(facts),
    ...ofRequests(facts),
    ...ofPinStore(facts),
    ...ofWorkers(facts),
    ...ofSetUp(facts),
  ];
  return [...all.filter(({ level }) => level === 'bad'), ...all.filter(({ level }) => level === 'look')];
}

const NOT_READY: Readonly<Record<NotReadyReason, readonly [title: string, text: string]>> = {
  draining: ['This service is ending', 'Its health is NOT_SERVING, and Envoy should ask another replica by now.'],
  sources_not_read: [
    'The sources of workers were not read yet',
    'Until then Envoy keeps the list that it has. See the sources under /readiness.',
  ],
  no_ready_worker: [
    'No worker is ready',
    'Every request is refused, or goes where Envoy chooses. See the last probes of the workers.',
  ],
};

function* ofReadiness({ fleet, state }: WarningFacts): Iterable<Warning> {
  const reason = notReadyReason(fleet, state);
  if (reason !== null && fleet.current.workers.length === 0 && reason === 'no_ready_worker') {
    yield bad(
      'no_worker',
      'There is no worker',
      'Add one: POST /workers, --worker-urls, a config file, or a source that finds them.',
    );
  } else if (reason !== null) {
    yield bad(reason, ...NOT_READY[reason]);
  }
  for (const { name, health, problem } of state.sources) {
    if (health === 'live') continue;
    const text = `${problem ?? 'It has not answered yet.'} What it said last holds.`;
    yield look(`source_${name}`, `Workers from ${name} are not up to date`, text);
  }
}

function* ofEnvoy({ envoy, state, recent, transport }: WarningFacts): Iterable<Warning> {
  const { connections, endpoints } = envoy;
  if (connections === 0) {
    yield bad(
      'no_envoy',
      'No Envoy is connected',
      'Nobody asks this service. Check the picker cluster in Envoy, and the address and port of the gRPC listener.',
    );
    return;
  }
  if (state.endOfRequest === 'age' && recent.decisions > 0) {
    yield bad(
      'no_access_log',
      'No access log was seen',
      'Envoy does not tell when requests end, so loads are too high and workers look busy. Configure the access log service, as smg-envoy envoy-config does.',
    );
  }
  if (endpoints.clients.length === 0) {
    yield look(
      'no_eds',
      'No Envoy takes its workers from here',
      'It has a list of its own: drains and new workers do not reach it.',
    );
  }
  const behind = endpoints.clients.filter(({ current }) => !current);
  if (endpoints.lastNack !== null && behind.length > 0) {
    yield bad(
      'eds_refused',
      'An Envoy refused the list of workers',
      `It goes on with the one before. It says: ${endpoints.lastNack.message}.`,
    );
  } else if (behind.length > 0) {
    const nodes = named(behind.map(({ node }) => node || 'an unnamed node'));
    yield look(
      'eds_behind',
      'An Envoy has an older list of workers',
      `Version ${endpoints.version} was not accepted yet by ${nodes}.`,
    );
  }
  if (transport === 'grpc-js') {
    yield look(
      'graceful_close',
      'Envoy may reset its streams',
      'With --transport grpc-js each Envoy needs the runtime guard ext_proc_graceful_grpc_close; smg-envoy check tells whether it has it. The transport http2 needs none.',
    );
  }
}

function* ofRequests({ recent, bodyOverridesIgnored }: WarningFacts): Iterable<Warning> {
  const { passed, refused, decisions } = recent;
  if (passed > 0) {
    yield bad(
      'passed',
      `${counted(passed, 'request')} went on without a pick`,
      'In the last 15 minutes, where Envoy chose, sticky or not. smg_envoy_fail_open_total tells why.',
    );
  }
  if (refused > 0 && refused * 20 >= decisions) {
    yield bad(
      'refused',
      `${counted(refused, 'request')} of the last 15 minutes refused`,
      `That is ${Math.round((100 * refused) / Math.max(1, decisions))} % of all. The live decisions tell why.`,
    );
  }
  if (bodyOverridesIgnored > 0) {
    yield look(
      'body_override',
      'Bodies that were asked for did not come',
      'Clients left, or Envoy lacks allow_mode_override: keys and models in bodies are then not seen.',
    );
  }
}

function* ofPinStore({ state: { pinStore } }: WarningFacts): Iterable<Warning> {
  if (pinStore === null) return;
  const { state, subscribed, provisional } = pinStore;
  const alone =
    provisional === 0
      ? ''
      : ` ${counted(provisional, 'pin')} of this replica ${provisional === 1 ? 'is' : 'are'} not shared yet.`;
  if (state === 'down') {
    yield bad(
      'redis_down',
      'Redis is away',
      `Known keys stay where they are; new ones are placed by each replica for itself.${alone} It is shared when Redis is back.`,
    );
  } else if (state === 'slow') {
    yield look('redis_slow', 'Redis answers too late', `New keys are placed without waiting for it.${alone}`);
  } else if (!subscribed) {
    yield look(
      'redis_deaf',
      'Changes by other replicas are not heard',
      `Redis answers, but the subscription is cut: moved pins are found later.${alone}`,
    );
  }
}

function* ofWorkers({ fleet, needsLoads }: WarningFacts): Iterable<Warning> {
  const { workers } = fleet.current;
  const failed = workers.filter(({ status }) => status === 'not_ready' || status === 'failed');
  if (failed.length > 0)
    yield look('workers_out', `${counted(failed.length, 'worker')} out`, `Their health checks fail: ${names(failed)}.`);
  const broken = workers.filter(({ breaker }) => breaker === 'open');
  if (broken.length > 0)
    yield look(
      'breakers',
      `${counted(broken.length, 'circuit breaker')} open`,
      `Requests kept failing there: ${names(broken)}.`,
    );
  const overloaded = workers.filter((worker) => worker.overloaded);
  if (overloaded.length > 0)
    yield look(
      'overloaded',
      `${counted(overloaded.length, 'worker')} overloaded`,
      `They get no new requests: ${names(overloaded)}.`,
    );
  const unresolved = workers.filter(({ address }) => address === '');
  if (unresolved.length > 0)
    yield look(
      'unresolved',
      `${counted(unresolved.length, 'name')} not resolved`,
      `Envoy cannot be told where they are: ${names(unresolved)}.`,
    );
  const stale = needsLoads ? workers.filter(({ status, engine }) => status === 'ready' && engine.recent === null) : [];
  if (stale.length > 0) {
    yield look(
      'stale_loads',
      `${counted(stale.length, 'worker')} without a load report`,
      `What is in flight here counts instead: ${names(stale)}.`,
    );
  }
}

function* ofSetUp({ adminIsOpen, reloadFailures, certificates, now }: WarningFacts): Iterable<Warning> {
  for (const { name, notAfter } of certificates) {
    const days = Math.floor((notAfter - now) / DAY_MS);
    if (days >= SOON_DAYS) continue;
    const when = new Date(notAfter).toISOString();
    if (notAfter <= now)
      yield bad(`certificate_${name}`, `The certificate ${name} is no longer valid`, `It ended at ${when}.`);
    else
      yield look(
        `certificate_${name}`,
        `The certificate ${name} ends in ${counted(days, 'day')}`,
        `At ${when}. A new file is taken in while the service runs.`,
      );
  }
  if (adminIsOpen) {
    yield look(
      'open_admin',
      'This page is open to everybody who reaches it',
      'The admin API listens off loopback without keys (--admin-insecure): anyone may drain workers.',
    );
  }
  if (reloadFailures > 0) {
    yield look(
      'reload_failed',
      'A change of the config file was refused',
      'The configuration before it is in force. The log tells line and cure.',
    );
  }
}

function bad(code: string, title: string, text: string): Warning {
  return { code, level: 'bad', title, text };
}

function look(code: string, title: string, text: string): Warning {
  return { code, level: 'look', title, text };
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function names(workers: readonly Worker[]): string {
  return named(workers.map(({ name }) => name));
}

function named(all: readonly string[]): string {
  const more = all.length - MOST_NAMES;
  return more > 0 ? `${all.slice(0, MOST_NAMES).join(', ')} and ${more} more` : all.join(', ');
}
