import { once } from 'node:events';
import { DEFAULT_KNOBS, flagValue, KNOBS, type Knobs, readKnobs } from '../../sim/knobs.ts';
import { type Sim, startSim } from '../../sim/start-sim.ts';
import { AppError, messageOf } from '../../util/app-error.ts';
import type { CliCommand } from '../command.ts';

interface Options extends Readonly<Record<string, string | boolean | readonly string[]>> {
  readonly count: string;
  readonly first: string;
  readonly host: string;
  readonly port: string;
  readonly spread: string;
}

/** `smg-envoy sim`: simulated OpenAI-compatible workers, until a signal ends them (interface 2). */
export const simCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('sim')
      .description('run simulated OpenAI-compatible workers; POST /_sim changes them while they run')
      .option('--count <n>', 'number of workers', '3')
      .option('--first <n>', 'number in the name of the first worker', '1')
      .option('--host <address>', 'address of the first worker', '127.0.0.1')
      .option('--port <port>', 'port of the first worker; 0: any free one for each', '8101')
      .option('--spread <ports|addresses>', 'what differs between workers, counted up from the first', 'ports');
    for (const knob of KNOBS) {
      const flag = `--${knob.name.replaceAll('_', '-')}`;
      if (knob.kind === 'switch') command.option(flag, knob.help);
      else if (knob.kind === 'list' || knob.kind === 'headers') command.option(`${flag} <value...>`, knob.help);
      else command.option(`${flag} <value>`, knob.help, String(DEFAULT_KNOBS[knob.key]));
    }
    command.action(
      run(async (shell) => {
        const sim = await start(command.opts<Options>());
        for (const worker of sim.workers) shell.out(`${worker.name} ${worker.url}\n`);
        await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
        await sim.close();
        return 0;
      }),
    );
  },
};

async function start(options: Options): Promise<Sim> {
  const { host, spread } = options;
  if (spread !== 'ports' && spread !== 'addresses') {
    throw new AppError('invalid_configuration', `--spread ${spread}: expected ports or addresses`);
  }
  const count = wholeNumber('--count', options.count, 1, 1000);
  const first = wholeNumber('--first', options.first, 0, 1_000_000);
  const port = wholeNumber('--port', options.port, 0, 65_535);
  try {
    return await startSim({ ...knobsOf(options), count, first, host, port, spread });
  } catch (error) {
    if (!/EADDR/.test(messageOf(error))) throw error;
    const cure = 'choose another with --host and --port';
    throw new AppError('address_in_use', `no worker can listen there (${messageOf(error)}); ${cure}`, { cause: error });
  }
}

function knobsOf(options: Options): Partial<Knobs> {
  const json: Record<string, unknown> = {};
  for (const knob of KNOBS) {
    // Commander names the option --token-ms tokenMs, which is the key of the knob.
    const given = options[knob.key];
    if (given !== undefined) json[knob.name] = flagValue(knob, given);
  }
  const knobs = readKnobs(json);
  if (typeof knobs === 'string') throw new AppError('invalid_configuration', `--${knobs.replaceAll('_', '-')}`);
  return knobs;
}

function wholeNumber(flag: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new AppError('invalid_configuration', `${flag} ${text}: expected a whole number from ${min} to ${max}`);
}
