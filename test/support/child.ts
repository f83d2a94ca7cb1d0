import { type ChildProcess, spawn } from 'node:child_process';

/** Programs that run: none outlives this process, be it stopped in the middle. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A program under test: started at birth, its last output kept, stopped for good by {@link stop}. */
export class Child {
  readonly #command: string;
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess;
  #output = '';

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.#command = command;
    this.#args = args;
    this.#env = env;
    this.#process = this.#spawn();
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  /** The last 64 KiB of stdout and stderr together. */
  get output(): string {
    return this.#output;
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Ends it with a signal and waits; SIGKILL follows after `graceMs`. */
  async stop(name: NodeJS.Signals = 'SIGTERM', graceMs = 10_000): Promise<void> {
    if (!this.running) return;
    const closed = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill(name);
    const late = setTimeout(() => this.#process.kill('SIGKILL'), graceMs);
    await closed;
    clearTimeout(late);
  }

  async restart(): Promise<void> {
    await this.stop('SIGKILL');
    this.#process = this.#spawn();
  }

  /** Resolves with the exit code once the program has ended by itself. */
  async ended(): Promise<number | null> {
    if (this.running) await new Promise((resolve) => this.#process.once('exit', resolve));
    return this.#process.exitCode;
  }

  #spawn(): ChildProcess {
    const child = spawn(this.#command, this.#args, { stdio: ['ignore', 'pipe', 'pipe'], env: this.#env });
    running.add(child);
    child.once('exit', () => running.delete(child));
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-65536);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => keep(Buffer.from(error.message)));
    return child;
  }
}
