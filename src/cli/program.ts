import { Command, CommanderError } from 'commander';
import { AppError } from '../util/app-error.ts';
import { didYouMean } from '../util/suggest.ts';
import type { CliCommand, Run, Shell, Work } from './command.ts';
import { version } from './version.ts';

/**
 * Runs the program on the words after its name and answers with the exit code: 0 done, 1 failed while running, 2 wrong
 * flags or configuration (interface 2). Never throws and never ends the process.
 */
export async function runProgram(
  commands: readonly CliCommand[],
  words: readonly string[],
  shell: Shell,
): Promise<number> {
  let code = 0;
  const run: Run = (work: Work) => async () => {
    code = await work(shell);
  };
  const program = new Command('smg-envoy')
    .description('Sticky worker selection for LLM fleets behind Envoy')
    .version(version(), '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .usage('<command> [flags]')
    .exitOverride()
    .configureOutput({ writeOut: shell.out, writeErr: shell.err, outputError: () => undefined });
  for (const command of commands) command.register(program, run);
  program
    .argument('[command]')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => unknownCommand(program, program.args[0]));
  try {
    await program.parseAsync(helped(program, words), { from: 'user' });
    return code;
  } catch (error) {
    return failure(error, shell);
  }
}

/** `help workers list` is `workers list --help`. */
function helped(program: Command, words: readonly string[]): readonly string[] {
  if (words[0] !== 'help') return words;
  const [, name, ...rest] = words;
  if (name === undefined) return ['--help'];
  if (!name.startsWith('-') && !program.commands.some((command) => command.name() === name)) {
    unknownCommand(program, name);
  }
  return [name, ...rest, '--help'];
}

function unknownCommand(program: Command, word: string | undefined): never {
  const names = program.commands.map((command) => command.name());
  const kind = word?.startsWith('-') === true ? 'flag' : 'command';
  const what = word === undefined ? 'no command given' : `unknown ${kind} ${word}${didYouMean(word, names)}`;
  throw new AppError('invalid_usage', `${what}; commands are ${names.join(', ')}`);
}

function failure(error: unknown, shell: Shell): number {
  if (error instanceof CommanderError) {
    // Help and version come this way too, and were printed; help that nobody asked for stands for a missing word.
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return 2;
    shell.err(`smg-envoy: ${error.message.replace(/^error: /, '')}\n`);
    return 2;
  }
  const known = AppError.from(error);
  for (const line of known.message.split('\n')) shell.err(`smg-envoy: ${line}\n`);
  // A fault of ours is worth its trace; a mistake of the operator is not.
  if (known.code === 'internal' && known.cause instanceof Error) shell.err(`${known.cause.stack ?? ''}\n`);
  return known.exitCode;
}
