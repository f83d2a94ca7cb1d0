import type { CliCommand } from '../command.ts';

/** `smg-envoy workers …`: client of the admin API for workers (interface 2 and 9). */
export const workersCommand: CliCommand = {
  register(program) {
    program.command('workers').description('list and change the workers of a running service');
  },
};
