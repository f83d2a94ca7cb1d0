import type { Command } from 'commander';

/** What a command may use of its surroundings. */
export interface Shell {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to stdout, as it is. */
  readonly out: (text: string) => void;
  /** Writes to stderr, as it is. */
  readonly err: (text: string) => void;
}

/** Answers with the exit code. Throws AppError for what the operator can mend. */
export type Work = (shell: Shell) => Promise<number>;

/** Makes the action of a command; its exit code and errors go to the entry of the program. */
export type Run = (work: Work) => () => Promise<void>;

/** One command of the program. */
export interface CliCommand {
  /** Adds itself to the program: name, description, options, and an action made by `run`. */
  register(program: Command, run: Run): void;
}
