import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envoyConfigCommand } from '../../src/cli/commands/envoy-config.ts';
import { runProgram } from '../../src/cli/program.ts';
import { type Sim, type SimOptions, startSim } from '../../src/sim/start-sim.ts';
import { type EnvoyHandle, startEnvoy } from './envoy.ts';
import { ask } from './http.ts';
import { freePort } from './ports.ts';
import { ServiceProcess } from './service-process.ts';
import { until } from './until.ts';

export interface StackOptions {
  /** Simulated workers: count (3 when unset) and behaviour. */
  readonly sim?: SimOptions;
  /** How many of them the service is told by `--worker-urls`; all when unset. */
  readonly known?: number;
  /** Flags of `serve`, which `envoy-config` gets too. */
  readonly flags?: readonly string[];
  /** Further flags of `envoy-config`. */
  readonly envoyFlags?: readonly string[];
  /** Text of the service's config file, made from the URLs of the workers. Use with `known: 0`. */
  readonly config?: (urls: readonly string[]) => string;
  /** Worker threads of Envoy, 1 when unset. */
  readonly concurrency?: number;
  /** Further variables of the service. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Simulated workers, the built service and a real Envoy with the configuration that our own command prints. */
export interface Stack {
  /** `http://host:port` of Envoy's listener. */
  readonly url: string;
  readonly envoy: EnvoyHandle;
  readonly sim: Sim;
  readonly service: ServiceProcess;
  /** Replaces the service's config file, as editors do: at once. */
  writeConfig(text: string): void;
  /** Health of each endpoint of the worker cluster as Envoy itself sees it, by `ip:port`; `healthy` when it gets traffic. */
  endpoints(): Promise<ReadonlyMap<string, string>>;
  /** One of Envoy's statistics; 0 when it has none of that name. */
  envoyStat(name: string): Promise<number>;
  close(): Promise<void>;
}

/** The built service and a real Envoy before it, with the configuration that our own command prints. */
export interface Front {
  readonly envoy: EnvoyHandle;
  readonly service: ServiceProcess;
  /** Health of each endpoint of the worker cluster as Envoy itself sees it, by `ip:port`; `healthy` when it gets traffic. */
  endpoints(): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}

export interface FrontOptions {
  /** Flags of `serve`, which `envoy-config` gets too. */
  readonly settings: readonly string[];
  /** Further flags of `envoy-config`. */
  readonly envoyFlags?: readonly string[];
  /** Worker threads of Envoy, 1 when unset. */
  readonly concurrency?: number;
  /** Further variables of the service. */
  readonly env?: NodeJS.ProcessEnv;
  /** How many workers the service knows at least, once it is up. */
  readonly known: number;
  /** A change of what our command prints. */
  readonly edit?: (yaml: string) => string;
}

/** Probes each second, and one probe decides; an answer that is late because the machine is busy is none that is missing. */
export const FAST_HEALTH: readonly string[] = [
  ...['--health-check-interval-secs', '1', '--health-check-timeout-secs', '5'],
  ...['--health-failure-threshold', '1', '--health-success-threshold', '1'],
];

/** Starts all parts; resolves when each worker the service was told of is healthy at Envoy, so that any may be picked. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const closers: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    return await start(options, closers, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(
  options: StackOptions,
  closers: (() => Promise<void> | void)[],
  close: () => Promise<void>,
): Promise<Stack> {
  const { flags = [], envoyFlags = [] } = options;
  const count = options.sim?.count ?? 3;
  const sim = await startSim({ port: await freePort('127.0.0.1', count), count, ...options.sim });
  closers.push(() => sim.close());
  const known = sim.workers.slice(0, options.known ?? sim.workers.length);

  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-stack-'));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'config.yaml');
  const writeConfig = (text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const settings = [...flags];
  if (known.length > 0) settings.push('--worker-urls', ...known.map((worker) => worker.url));
  if (options.config !== undefined) {
    writeConfig(options.config(sim.urls));
    settings.push('--config', file);
  }
  const front = await startFront({
    settings,
    envoyFlags,
    concurrency: options.concurrency ?? 1,
    known: known.length,
    env: options.env ?? {},
  });
  closers.push(() => front.close());
  const { service, envoy, endpoints } = front;
  return {
    url: envoy.url,
    envoy,
    sim,
    service,
    writeConfig,
    endpoints,
    envoyStat: async (name) => {
      const found = (await ask(envoy.adminUrl, { path: `/stats?filter=^${name.replaceAll('.', '\\.')}$` })).text;
      return Number(found.split(': ')[1] ?? 0);
    },
    close,
  };
}

/** Starts service and Envoy; resolves when each worker is ready at the service and healthy at Envoy, so that any may be picked. */
export async function startFront(options: FrontOptions): Promise<Front> {
  const { settings, envoyFlags = [], concurrency = 1, known, edit = (yaml: string) => yaml } = options;
  const service = await ServiceProcess.start(settings, options.env);
  let envoy: EnvoyHandle | undefined;
  const close = async (): Promise<void> => {
    await envoy?.stop();
    await service.stop(1_000);
  };
  try {
    const listen = `127.0.0.1:${await freePort()}`;
    const envoyAdmin = `127.0.0.1:${await freePort()}`;
    const own = ['--grpc-port', String(service.grpcPort), '--listen', listen, '--admin-listen', envoyAdmin];
    const yaml = edit(await envoyConfig([...settings, ...own, ...envoyFlags]));
    const running = await startEnvoy(yaml, { concurrency });
    envoy = running;
    const endpoints = async (): Promise<ReadonlyMap<string, string>> =>
      readEndpoints((await ask(running.adminUrl, { path: '/clusters?format=json' })).json);
    await until(async () => {
      const workers: ShownWorker[] = (await service.admin('/workers')).json.workers;
      const seen = await endpoints();
      const served = workers.filter(
        ({ address, status, worker_type }) => status === 'ready' && seen.get(address ?? '') === HEALTH_OF[worker_type],
      );
      return served.length === workers.length && served.length >= known;
    }, 'every worker is ready at the service and healthy at Envoy');
    return { envoy: running, service, endpoints, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface ShownWorker {
  readonly address: string | null;
  readonly status: string;
  readonly worker_type: 'regular' | 'prefill' | 'decode';
}

/** At Envoy, of a worker that is ready: its own choice may not fall on a prefill worker. */
const HEALTH_OF = { regular: 'healthy', prefill: 'unhealthy', decode: 'healthy' } as const;

/** What `smg-envoy envoy-config` prints for these flags. */
export async function envoyConfig(args: readonly string[]): Promise<string> {
  let out = '';
  let err = '';
  const shell = { env: {}, out: (text: string) => (out += text), err: (text: string) => (err += text) };
  const code = await runProgram([envoyConfigCommand], ['envoy-config', ...args], shell);
  if (code !== 0) throw new Error(`envoy-config: ${err}`);
  return out;
}

interface Clusters {
  readonly cluster_statuses?: readonly {
    readonly name: string;
    readonly host_statuses?: readonly {
      readonly address: { readonly socket_address: { readonly address: string; readonly port_value: number } };
      readonly health_status?: { readonly eds_health_status?: string };
    }[];
  }[];
}

/** Envoy's names in lower case; `pending removal` and the like do not come up here. */
function readEndpoints(clusters: Clusters): ReadonlyMap<string, string> {
  const workers = clusters.cluster_statuses?.filter(({ name }) => name === 'workers' || name === 'grpc_workers') ?? [];
  return new Map(
    workers
      .flatMap(({ host_statuses = [] }) => host_statuses)
      .map(({ address: { socket_address: at }, health_status: health }) => [
        `${at.address}:${at.port_value}`,
        (health?.eds_health_status ?? 'healthy').toLowerCase(),
      ]),
  );
}
