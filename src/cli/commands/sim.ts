import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Certificate } from '../../sim/certificate.ts';
import { DEFAULT_KNOBS, flagValue, KNOBS, type Knobs, readKnobs } from '../../sim/knobs.ts';
import { placesOf, type SimPlaces } from '../../sim/places.ts';
import { startSim } from '../../sim/start-sim.ts';
import { AppError, messageOf } from '../../util/app-error.ts';
import type { CliCommand } from '../command.ts';

interface Options extends Readonly<Record<string, string | boolean | readonly string[]>> {
  readonly count: string;
  readonly first: string;
  readonly host: string;
  readonly port: string;
  readonly spread: string;
  readonly scheme: string;
}

const CERTIFICATE_DAYS = 30;

/** What the command runs, whatever its workers speak. */
interface Running {
  readonly workers: readonly { readonly name: string; readonly url: string }[];
  close(): Promise<void>;
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
      .option('--spread <ports|addresses>', 'what differs between workers, counted up from the first', 'ports')
      .option('--scheme <http|https|grpc>', 'what workers speak; grpc: health checks and an echo stream', 'http')
      .option('--certificate <file>', 'where the certificate made for https goes, for --ca-cert-paths');
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

async function start(options: Options): Promise<Running> {
  const { host, spread, scheme } = options;
  if (spread !== 'ports' && spread !== 'addresses') {
    throw new AppError('invalid_configuration', `--spread ${spread}: expected ports or addresses`);
  }
  const count = wholeNumber('--count', options.count, 1, 1000);
  const first = wholeNumber('--first', options.first, 0, 1_000_000);
  const port = wholeNumber('--port', options.port, 0, 65_535);
  if (!SCHEMES.has(scheme)) {
    throw new AppError('invalid_configuration', `--scheme ${scheme}: expected http, https or grpc`);
  }
  if (spread === 'ports' && port > 0 && port + count - 1 > 65_535) {
    throw new AppError('invalid_configuration', `--port ${port}: expected room for ${count} ports below 65536`);
  }
  const where = { count, first, host, port, spread } as const;
  const certificate = scheme === 'https' ? { certificate: await newCertificate(options, where) } : {};
  try {
    if (scheme === 'grpc') return await startGrpc(where);
    return await startSim({ ...knobsOf(options), ...where, ...certificate });
  } catch (error) {
    if (!/EADDR/.test(messageOf(error))) throw error;
    const cure = 'choose another with --host and --port';
    throw new AppError('address_in_use', `no worker can listen there (${messageOf(error)}); ${cure}`, { cause: error });
  }
}

const SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'grpc']);

/** A certificate for all the workers, which is written where the service and Envoy can read it. */
async function newCertificate(options: Options, where: SimPlaces): Promise<Certificate> {
  const file = options['certificate'];
  if (typeof file !== 'string') {
    throw new AppError('invalid_configuration', '--scheme https: name a file with --certificate');
  }
  const { selfSigned } = await import('../../sim/certificate.ts');
  const names = [...new Set(['localhost', ...placesOf(where).map(({ host }) => host)])];
  const certificate = selfSigned({ names, now: Date.now(), days: CERTIFICATE_DAYS });
  try {
    writeFileSync(file, certificate.cert);
  } catch (error) {
    throw new AppError('invalid_configuration', `--certificate ${file}: ${messageOf(error)}`, { cause: error });
  }
  return certificate;
}

/** gRPC is loaded for those who want it. */
async function startGrpc(where: SimPlaces): Promise<Running> {
  const { startGrpcSim } = await import('../../sim/grpc-worker.ts');
  return startGrpcSim(where);
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
