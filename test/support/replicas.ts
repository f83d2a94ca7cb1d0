import { type Sim, type SimOptions, startSim } from '../../src/sim/start-sim.ts';
import { type EnvoyChange, editEnvoy } from './edit-envoy.ts';
import { type EnvoyHandle, startEnvoy } from './envoy.ts';
import { ask } from './http.ts';
import { freePort } from './ports.ts';
import { ServiceProcess } from './service-process.ts';
import { envoyConfig } from './stack.ts';
import { until } from './until.ts';

export interface ReplicasOptions {
  /** How many replicas of the service, 2 when unset. */
  readonly replicas?: number;
  /** Simulated workers: count (3 when unset) and behaviour. */
  readonly sim?: SimOptions;
  /** `--pin-store`, `memory` when unset. */
  readonly store?: string;
  /** Further flags of `serve`, which `envoy-config` gets too. */
  readonly flags?: readonly string[];
  /** Further flags of `envoy-config`. */
  readonly envoyFlags?: readonly string[];
  /** Worker threads of Envoy, 1 when unset. */
  readonly concurrency?: number;
  /** A change of what our command prints. */
  readonly change?: EnvoyChange;
  /** Further variables of the services. */
  readonly env?: NodeJS.ProcessEnv;
}

/** One Envoy with the configuration that our own command prints for several `--picker`, and the replicas that it asks. */
export interface Replicas {
  /** `http://host:port` of Envoy's listener. */
  readonly url: string;
  readonly envoy: EnvoyHandle;
  readonly sim: Sim;
  readonly services: readonly ServiceProcess[];
  /** Resolves when every replica runs and Envoy asks each of them. */
  whole(): Promise<void>;
  /** Requests that each replica has placed since its last start. */
  placed(): Promise<readonly number[]>;
  /** Sum of a counter over the replicas that run. */
  sum(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  close(): Promise<void>;
}

const STICKY: readonly string[] = ['--policy', 'round_robin', '--routing-key-override', '--decision-header'];

/** Starts all parts; resolves when each worker is ready at each replica and Envoy asks all of them. */
export async function startReplicas(options: ReplicasOptions = {}): Promise<Replicas> {
  const closers: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const count = options.sim?.count ?? 3;
    const sim = await startSim({ port: await freePort('127.0.0.1', count), count, ...options.sim });
    closers.push(() => sim.close());
    const store = ['--pin-store', options.store ?? 'memory'];
    const flags = [...STICKY, ...store, '--log-level', 'warn', ...(options.flags ?? []), '--worker-urls', ...sim.urls];
    const services: ServiceProcess[] = [];
    closers.push(async () => void (await Promise.all(services.map((service) => service.kill()))));
    for (let index = 0; index < (options.replicas ?? 2); index++) {
      services.push(await ServiceProcess.start(flags, options.env));
    }
    const envoy = await startEnvoyOf(services, flags, options);
    closers.push(() => envoy.stop());
    const replicas = handle(envoy, sim, services, close);
    await replicas.whole();
    return replicas;
  } catch (error) {
    await close();
    throw error;
  }
}

async function startEnvoyOf(
  services: readonly ServiceProcess[],
  flags: readonly string[],
  { envoyFlags = [], concurrency = 1, change }: ReplicasOptions,
): Promise<EnvoyHandle> {
  const own = ['--listen', `127.0.0.1:${await freePort()}`, '--admin-listen', `127.0.0.1:${await freePort()}`];
  const pickers = services.flatMap(({ grpcPort }) => ['--picker', `127.0.0.1:${grpcPort}`]);
  const yaml = await envoyConfig([...flags, ...own, ...pickers, ...envoyFlags]);
  return startEnvoy(change === undefined ? yaml : editEnvoy(yaml, change), { concurrency });
}

function handle(
  envoy: EnvoyHandle,
  sim: Sim,
  services: readonly ServiceProcess[],
  close: () => Promise<void>,
): Replicas {
  const running = (): readonly ServiceProcess[] => services.filter((service) => service.running);
  const sum = async (name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> => {
    const all = await Promise.all(running().map((service) => service.metrics()));
    return all.reduce((total, metrics) => total + metrics.sum(name, labels), 0);
  };
  const isWhole = async (): Promise<boolean> => {
    const { text } = await ask(envoy.adminUrl, { path: '/clusters' });
    const asked = text.match(/^picker::.*::health_flags::healthy$/gm)?.length ?? 0;
    const known = text.match(/^workers::.*::health_flags::healthy$/gm)?.length ?? 0;
    if (asked < services.length || known < sim.workers.length) return false;
    const ready = await Promise.all(
      services.map(async (service) => (await service.admin('/readiness')).json.healthy_workers as number),
    );
    return ready.every((count) => count >= sim.workers.length);
  };
  return {
    url: envoy.url,
    envoy,
    sim,
    services,
    whole: () => until(isWhole, 'every replica knows its workers and is asked by Envoy', 30_000).then(() => undefined),
    placed: () =>
      Promise.all(
        services.map(async (service) =>
          service.running ? (await service.metrics()).sum('smg_router_requests_total') : 0,
        ),
      ),
    sum,
    close,
  };
}
