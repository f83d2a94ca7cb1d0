import { AppError } from '../../util/app-error.ts';
import type { CliCommand } from '../command.ts';
import { addSettingFlags, settingsOf } from '../setting-flags.ts';

/** `smg-envoy serve`: runs the service (interface 3). */
export const serveCommand: CliCommand = {
  register(program, run) {
    const command = addSettingFlags(program.command('serve').description('run the service that Envoy asks'));
    command.action(
      run(async (shell) => {
        settingsOf(command, shell.env);
        throw new AppError('internal', 'not wired');
      }),
    );
  },
};
