import { readFileSync } from 'node:fs';
import type { Loaded } from '../../config/load-settings.ts';
import type { EnvoyFile, EnvoyReport } from '../../envoy/check/check-envoy.ts';
import { AppError, messageOf } from '../../util/app-error.ts';
import { checkSettings } from '../check-settings.ts';
import type { CliCommand, Shell } from '../command.ts';
import { addSettingFlags, settingsOf } from '../setting-flags.ts';

interface Options {
  readonly envoy?: readonly string[];
  readonly picker?: readonly string[];
  readonly envoyVersion?: string;
  readonly json?: boolean;
  readonly strict?: boolean;
}

/** `smg-envoy check`: judges settings, a workers file and, with `--envoy`, an operator's own Envoy configuration (interface 2). */
export const checkCommand: CliCommand = {
  register(program, run) {
    const command = addSettingFlags(
      program
        .command('check')
        .description('check flags, config file, workers file and an Envoy configuration of your own'),
    );
    command
      .option('--envoy <file...>', "Envoy's configuration: bootstrap, config dump or gateway resources; - for stdin")
      .option('--picker <address...>', 'replicas of the service (default: --grpc-host and --grpc-port)')
      .option('--envoy-version <version>', 'the Envoy that reads it (default: 1.40)')
      .option('--strict', 'warnings fail, too')
      .option('--json', 'print JSON')
      .action(run((shell) => check(settingsOf(command, shell.env), command.opts(), shell)));
  },
};

async function check(loaded: Loaded, options: Options, shell: Shell): Promise<number> {
  const flags = { picker: options.picker ?? [], envoyVersion: options.envoyVersion ?? null };
  const settings = checkSettings(flags, loaded);
  const { workersFileProblems } = await import('../../service/discovery-of.ts');
  const problems = workersFileProblems(loaded);
  if (problems.length > 0) throw new AppError('invalid_configuration', `--workers-file: ${problems.join('\n')}`);
  const { checkStoreFiles } = await import('../../service/store-files.ts');
  checkStoreFiles(loaded.settings);
  const { readTlsFiles, tlsPlacesOf } = await import('../../service/tls-files.ts');
  const tls = tlsPlacesOf(loaded.settings);
  if (tls !== null) readTlsFiles(tls, Date.now());
  const names = options.envoy ?? [];
  const { checkEnvoy } = await import('../../envoy/check/check-envoy.ts');
  const { reportJson, reportText } = await import('../../envoy/check/report.ts');
  const files = names.map(readEnvoy);
  const report = files.length === 0 ? NOTHING : checkEnvoy(files, settings);
  if (options.json === true) {
    shell.out(`${JSON.stringify({ warnings: loaded.warnings, ...reportJson(report) }, null, 2)}\n`);
  } else {
    const warnings = loaded.warnings.map((warning) => `settings: warning: ${warning}\n`);
    shell.out(
      `${warnings.join('')}settings: ok\n${
        names.length === 0
          ? ''
          : reportText(
              report,
              files.map(({ name }) => name),
            )
      }`,
    );
  }
  const failing = report.findings.some(
    ({ level }) => level === 'error' || (options.strict === true && level === 'warning'),
  );
  return failing || report.problems.length > 0 ? 2 : 0;
}

const NOTHING: EnvoyReport = { findings: [], notJudged: [], problems: [] };
const STDIN = '-';

function readEnvoy(name: string): EnvoyFile {
  try {
    return name === STDIN
      ? { name: 'stdin', text: readFileSync(0, 'utf8') }
      : { name, text: readFileSync(name, 'utf8') };
  } catch (error) {
    throw new AppError('unreadable_file', `--envoy ${name}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
