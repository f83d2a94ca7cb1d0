import type { Command } from 'commander';
import type { Loaded, Settings } from '../../config/load-settings.ts';
import { banner } from '../../demo/banner.ts';
import { endSignal } from '../../demo/end-signal.ts';
import { ensureEnvoy } from '../../demo/envoy-runtime.ts';
import { freePort, requireFree } from '../../demo/ports.ts';
import { runEnvoy } from '../../demo/run-envoy.ts';
import { renderBootstrap } from '../../envoy/bootstrap/render-bootstrap.ts';
import { startService } from '../../service/start-service.ts';
import { type Sim, type SimOptions, startSim } from '../../sim/start-sim.ts';
import { AppError } from '../../util/app-error.ts';
import { bootstrapOptions } from '../bootstrap-options.ts';
import type { CliCommand, Shell } from '../command.ts';
import { addSettingFlags, settingsOf } from '../setting-flags.ts';
import { version } from '../version.ts';

interface Options {
  readonly listen: string;
  readonly workers?: string;
  readonly engine: string;
}

/** Sticky conversations over a policy that splits them otherwise, and a screen that stays readable. */
const DEFAULTS = { policy: 'round_robin', routingKeyOverride: true, logLevel: 'warn' } as const;

/** `smg-envoy demo`: service, simulated workers and a real Envoy, all gone when it ends (interface 2). */
export const demoCommand: CliCommand = {
  register(program, run) {
    const command = addSettingFlags(
      program.command('demo').description('run the service, simulated workers and a real Envoy'),
    );
    command
      .option('--listen <ip:port>', 'where Envoy listens', '127.0.0.1:8080')
      .option(
        '--workers <n>',
        'simulated workers, of each leg with --pd-disaggregation (default: 3, or 2 of each leg; 0 where the flags name workers)',
      )
      .option('--engine <vllm|sglang>', 'with --pd-disaggregation: what the simulated workers are', 'vllm')
      .action(run((shell) => demo(command, shell)));
  },
};

async function demo(command: Command, shell: Shell): Promise<number> {
  const loaded = settingsOf(command, shell.env, { defaults: DEFAULTS });
  const options: Options = command.opts();
  const ended = endSignal();
  const closers: (() => Promise<void>)[] = [];
  try {
    const started = start(options, loaded, shell, closers);
    started.catch(() => undefined); // should a signal be faster
    const running = await Promise.race([ended, started]);
    if (typeof running === 'string') return 0;
    const outcome = await Promise.race([ended, running.envoyEnded]);
    if (typeof outcome === 'string') return 0;
    throw new AppError('child_failed', `Envoy ended with exit code ${outcome}`);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Starts all parts; each that runs is added to `closers`. */
async function start(options: Options, given: Loaded, shell: Shell, closers: (() => Promise<void>)[]) {
  const flags = {
    mode: 'ext-proc',
    picker: [],
    fail: 'open',
    staticWorkers: false,
    envoyVersion: '1.38',
    listen: options.listen,
  };
  const { listen } = bootstrapOptions({ ...flags, adminListen: null }, withSettings(given, { grpcPort: 1 }));
  const { settings } = given;
  const simulated = simulatedWorkers(options, given);
  await requireFree(listen.host, listen.port, '--listen');
  if (settings.grpcSocket === null) await requireFree(settings.grpcHost, settings.grpcPort, '--grpc-port');
  await requireFree(settings.adminHost, settings.adminPort, '--admin-port');
  const runtime = await ensureEnvoy((line) => shell.err(`${line}\n`));

  const sim = await startSim(simulated);
  closers.push(() => sim.close());
  const loaded = withSim(given, sim);
  const service = await startService(loaded, { version: version() });
  closers.push(() => service.close());

  // Where the service really listens, should any free port have been wanted.
  const grpcPort = Number(service.grpcAddress.slice(service.grpcAddress.lastIndexOf(':') + 1)) || settings.grpcPort;
  const envoyAdmin = `127.0.0.1:${await freePort('127.0.0.1')}`;
  const bootstrap = bootstrapOptions({ ...flags, adminListen: envoyAdmin }, withSettings(loaded, { grpcPort }));
  const url = `http://${options.listen.replace('0.0.0.0', '127.0.0.1')}`;
  const envoyAdminUrl = `http://${envoyAdmin}`;
  const envoy = await runEnvoy(runtime, renderBootstrap(bootstrap), url, envoyAdminUrl, shell.err);
  closers.push(() => envoy.stop());

  const { grpcAddress, adminAddress } = service;
  const workers = [...settings.workerUrls.map((each) => ({ name: 'worker', url: each })), ...named(settings, sim)];
  const { configFile } = envoy;
  const adminUrl = `http://${adminAddress}`;
  shell.out(banner({ url, envoyAdminUrl, envoy: runtime, configFile, grpcAddress, adminUrl, workers }));
  return { envoyEnded: envoy.ended };
}

function withSettings(loaded: Loaded, change: Partial<Settings>): Loaded {
  return { ...loaded, settings: Object.freeze({ ...loaded.settings, ...change }) };
}

/** With the simulated workers in it: the first half prefills where requests are split. */
function withSim(given: Loaded, sim: Sim): Loaded {
  const { settings } = given;
  if (!settings.pdDisaggregation) return withSettings(given, { workerUrls: [...settings.workerUrls, ...sim.urls] });
  const half = sim.urls.length / 2;
  const workers = sim.urls.map((url, at) => ({
    value: {
      url,
      worker_type: at < half ? 'prefill' : 'decode',
      kv_connector: 'NixlConnector',
      // Told to engines only; nobody listens there.
      ...(at < half ? { bootstrap_port: 9101 + at } : {}),
    },
    where: () => `simulated worker ${at + 1}`,
  }));
  return { ...given, workers: [...given.workers, ...workers] };
}

function named({ pdDisaggregation }: Settings, { workers }: Sim): readonly { name: string; url: string }[] {
  const legOf = (at: number): string => (!pdDisaggregation ? '' : at < workers.length / 2 ? ' prefill' : ' decode');
  return workers.map(({ name, url }, at) => ({ name: `${name}${legOf(at)}`, url }));
}

function simulatedWorkers(options: Options, { settings, workers }: Loaded): SimOptions {
  const { pdDisaggregation, workerUrls, prefill, decode } = settings;
  const given = workerUrls.length + prefill.length + decode.length + workers.length > 0;
  const text = options.workers ?? (given ? '0' : pdDisaggregation ? '2' : '3');
  if (!/^\d{1,3}$/.test(text)) {
    throw new AppError('invalid_configuration', `--workers ${text}: expected a whole number from 0 to 999`);
  }
  if (options.engine !== 'vllm' && options.engine !== 'sglang') {
    throw new AppError('invalid_configuration', `--engine ${options.engine}: expected vllm or sglang`);
  }
  if (!pdDisaggregation && options.engine !== 'vllm') {
    throw new AppError('invalid_configuration', `--engine ${options.engine}: only with --pd-disaggregation`);
  }
  return pdDisaggregation ? { count: 2 * Number(text), engine: options.engine } : { count: Number(text) };
}
