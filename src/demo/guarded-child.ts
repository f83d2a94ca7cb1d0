import { type ChildProcess, spawn } from 'node:child_process';
import { AppError } from '../util/app-error.ts';

/**
 * Runs a program beside a watcher that reads the shell's standard input, which only our process holds open: when we are
 * gone, even by SIGKILL, the read ends and the program is ended too: by SIGTERM, after five seconds by SIGKILL.
 */
const GUARD = `
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
trap 'kill "$child" 2>/dev/null' TERM INT HUP
{
  read -r _
  kill "$child"
  looks=0
  while kill -0 "$child" && [ "$looks" -lt 50 ]; do sleep 0.1; looks=$((looks + 1)); done
  kill -9 "$child"
} <&3 2>/dev/null &
exec 3<&-
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
exit "$code"
`;

/** A program that never outlives this process. */
export interface GuardedChild {
  /** Resolves with the exit code when it has ended. */
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

/** Starts a program; what it writes goes to `write`. Rejects when there is no shell to start it with. */
export async function startGuarded(command: readonly string[], write: (text: string) => void): Promise<GuardedChild> {
  const shell = spawn('sh', ['-c', GUARD, 'guard', ...command], { stdio: ['pipe', 'pipe', 'pipe'] });
  const forward = (chunk: Buffer): void => write(chunk.toString());
  shell.stdout.on('data', forward);
  shell.stderr.on('data', forward);
  shell.stdin.on('error', () => undefined);
  await spawned(shell, command[0] ?? '');
  const ended = new Promise<number | null>((resolve) => {
    shell.once('exit', (code) => {
      shell.stdin.destroy(); // ends the watcher
      resolve(code);
    });
  });
  return {
    ended,
    stop: async () => {
      shell.stdin.destroy();
      await ended;
    },
  };
}

function spawned(child: ChildProcess, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => {
      reject(new AppError('missing_program', `cannot start ${name}: ${error.message}`, { cause: error }));
    });
  });
}
