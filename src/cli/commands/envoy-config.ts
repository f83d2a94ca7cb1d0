import { ADDRESS_FORM } from '../../envoy/bootstrap/address.ts';
import { BOOTSTRAP_MODES } from '../../envoy/bootstrap/options.ts';
import { renderBootstrap } from '../../envoy/bootstrap/render-bootstrap.ts';
import { AppError } from '../../util/app-error.ts';
import { bootstrapOptions } from '../bootstrap-options.ts';
import type { CliCommand } from '../command.ts';
import { addSettingFlags, settingsOf } from '../setting-flags.ts';

/** Kinds of configuration that can be printed (interface 8). */
const MODES: readonly string[] = BOOTSTRAP_MODES;

interface Options {
  readonly mode: string;
  readonly listen: string;
  readonly picker?: readonly string[];
  readonly fail?: string;
  readonly adminListen?: string;
  readonly staticWorkers?: boolean;
  readonly envoyVersion: string;
  readonly authzBody: string;
  readonly tls?: boolean;
}

/** `smg-envoy envoy-config`: prints a whole Envoy bootstrap (interface 8). */
export const envoyConfigCommand: CliCommand = {
  register(program, run) {
    const command = addSettingFlags(
      program.command('envoy-config').description('print an Envoy configuration for these flags'),
    );
    command
      .option('--mode <mode>', `kind of configuration: ${MODES.join(', ')}`, 'ext-proc')
      .option('--listen <ip:port>', 'where clients connect', '127.0.0.1:8080')
      .option(
        '--picker <address...>',
        `replicas of the service, ${ADDRESS_FORM} (default: --grpc-host and --grpc-port)`,
      )
      .option(
        '--fail <open|closed>',
        'while the service is away: place requests without it, or answer 503 (default: open; closed in full duplex)',
      )
      .option('--admin-listen <ip:port>', "Envoy's admin interface (default: none)")
      .option('--authz-body <auto|on|off>', 'with ext-authz: send request bodies to the service', 'auto')
      .option('--static-workers', 'write the workers into the file instead of asking the service for them')
      .option('--envoy-version <version>', 'the Envoy that will read it', '1.38')
      .option('--tls', 'call the service over TLS')
      .action(
        run(async (shell) => {
          const loaded = settingsOf(command, shell.env);
          const options: Options = command.opts();
          if (options.tls === true) {
            throw new AppError('invalid_configuration', '--tls: not supported by this version');
          }
          const flags = {
            ...options,
            picker: options.picker ?? [],
            adminListen: options.adminListen ?? null,
            fail: options.fail ?? null,
            staticWorkers: options.staticWorkers === true,
          };
          shell.out(renderBootstrap(bootstrapOptions(flags, loaded)));
          return 0;
        }),
      );
  },
};
