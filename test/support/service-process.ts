import { fileURLToPath } from 'node:url';
import { Child } from './child.ts';
import { type Answer, ask, type Outgoing } from './http.ts';
import { parseExposition, type Sample } from './parse-exposition.ts';
import { freePort } from './ports.ts';
import { until } from './until.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/smg-envoy.js', import.meta.url));

/** `smg-envoy serve` as it is built, in a process of its own, at ports that it keeps over a restart. */
export class ServiceProcess {
  readonly grpcPort: number;
  readonly adminUrl: string;
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #child: Child | null = null;

  private constructor(grpcPort: number, adminPort: number, flags: readonly string[], env: NodeJS.ProcessEnv) {
    this.grpcPort = grpcPort;
    this.adminUrl = `http://127.0.0.1:${adminPort}`;
    this.#env = { ...process.env, ...env };
    const port = flags.includes('--grpc-socket') ? [] : ['--grpc-port', String(grpcPort)];
    this.#args = ['serve', ...port, '--admin-port', String(adminPort), ...flags];
  }

  /** Runs it with these further flags and variables; resolves when its ports are open. */
  static async start(flags: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
    const service = new ServiceProcess(await freePort(), await freePort(), flags, env);
    await service.start();
    return service;
  }

  get running(): boolean {
    return this.#child?.running ?? false;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** What it wrote since its last start, the last 64 KiB. */
  get output(): string {
    return this.#child?.output ?? '';
  }

  get exitCode(): number | null {
    return this.#child?.exitCode ?? null;
  }

  /** Starts it again after a stop or a kill. */
  async start(): Promise<void> {
    if (this.running) throw new Error('the service is running');
    const child = new Child(process.execPath, [PROGRAM, ...this.#args], this.#env);
    this.#child = child;
    await until(() => !child.running || child.output.includes('smg-envoy ready'), 'the service is ready', 30_000);
    if (!child.running) throw new Error(`the service ended: ${child.output}`);
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.signal(name);
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    await this.#child?.stop('SIGKILL');
  }

  /** Ends it as an operator does: it drains. */
  async stop(graceMs = 20_000): Promise<void> {
    await this.#child?.stop('SIGTERM', graceMs);
  }

  /** Kills it and starts it again. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Asks the admin API. */
  admin(path: string, out: Outgoing = {}): Promise<Answer> {
    return ask(this.adminUrl, { ...out, path });
  }

  async metrics(): Promise<Metrics> {
    return new Metrics(parseExposition((await this.admin('/metrics')).text).samples);
  }

  /** Runs another command of the program, with `--admin` of this service where `admin` is set. */
  async cli(args: readonly string[], { admin = true } = {}): Promise<{ code: number | null; output: string }> {
    const child = new Child(process.execPath, [PROGRAM, ...args, ...(admin ? ['--admin', this.adminUrl] : [])]);
    const code = await child.ended();
    return { code, output: child.output };
  }
}

/** One reading of the metrics. */
export class Metrics {
  readonly samples: readonly Sample[];

  constructor(samples: readonly Sample[]) {
    this.samples = samples;
  }

  /** Sum over the series of a name that carry these labels; 0 when there are none. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = Object.entries(labels);
    return this.samples
      .filter((sample) => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value))
      .reduce((sum, sample) => sum + sample.value, 0);
  }
}
