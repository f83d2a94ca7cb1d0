import type { Command } from 'commander';
import { type Loaded, tryLoadSettings } from '../../config/load-settings.ts';
import { ConfigWatch } from '../../config/reload.ts';
import type { RunningService } from '../../service/start-service.ts';
import { startService } from '../../service/start-service.ts';
import { createLog, type Log } from '../../telemetry/log.ts';
import type { CliCommand, Shell } from '../command.ts';
import { logChange, logHidden } from '../reload-log.ts';
import { addSettingFlags, flagUses, settingsOf } from '../setting-flags.ts';
import { version } from '../version.ts';
import { WORKER_CHECKS } from '../worker-checks.ts';

/** `smg-envoy serve`: runs the service until a signal ends it (interface 3). */
export const serveCommand: CliCommand = {
  register(program, run) {
    const command = addSettingFlags(program.command('serve').description('run the service that Envoy asks'));
    command.action(run((shell) => serve(command, shell)));
  },
};

async function serve(command: Command, shell: Shell): Promise<number> {
  const loaded = settingsOf(command, shell.env);
  const { settings } = loaded;
  const log = createLog({ level: settings.logLevel, json: settings.logJson });
  for (const reason of loaded.warnings) log.warn('a setting is ignored', { reason });

  // A signal that comes while the service starts must not be lost.
  const signals = new Signals();
  const service = await startService(loaded, { version: version(), log });
  const watch = watchConfig(command, shell, loaded, service, log);
  const stopReloads = signals.onReload(() => watch?.reload());
  shell.out(`smg-envoy ready grpc=${service.grpcAddress} admin=${service.adminAddress}\n`);
  try {
    const signal = await signals.first;
    log.info('draining; a second signal ends at once', { reason: signal });
    const ended = service.drain().then(() => 'drained' as const);
    const outcome = await Promise.race([
      ended,
      signals.second.then(() => 'second signal' as const),
      after(settings.shutdownGracePeriodSecs * 1000).then(() => 'grace period over' as const),
    ]);
    log.info('ended', { reason: outcome });
    return outcome === 'second signal' ? 1 : 0;
  } finally {
    stopReloads();
    watch?.close();
  }
}

function watchConfig(
  command: Command,
  shell: Shell,
  loaded: Loaded,
  service: RunningService,
  log: Log,
): ConfigWatch | null {
  const path = loaded.settings.config;
  if (path === null) return null;
  let holding = loaded.settings;
  return new ConfigWatch({
    path,
    loaded,
    load: (text) =>
      tryLoadSettings({ flags: flagUses(command), env: shell.env, checks: WORKER_CHECKS, readFile: () => text }),
    listener: {
      changed: (change) => {
        service.apply(change.loaded);
        logChange(log, change);
        logHidden(log, holding, change.loaded.settings);
        holding = change.loaded.settings;
      },
      failed: (problems) => {
        service.reloadFailed();
        for (const reason of problems) log.error('the configuration is refused; the running one stays', { reason });
      },
    },
  });
}

/** The signals that end a service: the first asks, the second insists. SIGHUP reloads. */
class Signals {
  readonly first: Promise<string>;
  readonly second: Promise<string>;

  constructor() {
    let asked = (_signal: string): void => {};
    let insisted = (_signal: string): void => {};
    this.first = new Promise((resolve) => {
      asked = resolve;
    });
    this.second = new Promise((resolve) => {
      insisted = resolve;
    });
    let count = 0;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => (count++ === 0 ? asked(signal) : insisted(signal)));
    }
  }

  onReload(reload: () => void): () => void {
    process.on('SIGHUP', reload);
    return () => process.off('SIGHUP', reload);
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.min(ms, 2 ** 31 - 1)).unref();
  });
}
