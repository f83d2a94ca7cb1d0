import { fileURLToPath } from 'node:url';
import { Child } from './child.ts';
import { ask } from './http.ts';
import { parseExposition } from './parse-exposition.ts';
import { freePort } from './ports.ts';
import { ensurePython, type Python } from './python.ts';
import { Metrics } from './service-process.ts';
import { SMG_VERSIONS, type SmgVersion, smgRequirement } from './smg-release.ts';
import { until } from './until.ts';

const LAUNCHER = fileURLToPath(new URL('./smg_launch.py', import.meta.url));

const MOST_STARTS = 3;

/** Installs the releases; the reason when this machine cannot have them. */
export async function findSmg(): Promise<string | undefined> {
  try {
    for (const version of SMG_VERSIONS) await ensurePython(smgRequirement(version));
    return undefined;
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return `no smg from PyPI (${line})`;
  }
}

export interface WorkerDeclaration {
  readonly url: string;
  readonly worker_type?: 'regular' | 'prefill' | 'decode';
  readonly bootstrap_port?: number;
  readonly kv_connector?: string;
}

export interface SmgOptions {
  readonly version: SmgVersion;
  /** Flags as SMG's launcher spells them, `--policy` among them. */
  readonly flags: readonly string[];
  /** The workers by URL, or as `POST /workers` wants them, in the order in which SMG shall know them. */
  readonly workers: readonly (string | WorkerDeclaration)[];
  /**
   * Give the URLs of the workers as flags. SMG then registers all at once, in an order by chance; a policy that wants two workers from
   * the start needs it.
   */
  readonly together?: boolean;
}

/** The real SMG, in a process of its own. */
export class SmgProcess {
  readonly url: string;
  readonly #metricsUrl: string;
  readonly #child: Child;

  private constructor(url: string, metricsUrl: string, child: Child) {
    this.url = url;
    this.#metricsUrl = metricsUrl;
    this.#child = child;
  }

  /** Resolves when each worker is ready. A port that another process took meanwhile is no reason to fail. */
  static async start(options: SmgOptions): Promise<SmgProcess> {
    for (let tries = 1; ; tries++) {
      try {
        return await SmgProcess.#start(options);
      } catch (error) {
        if (tries === MOST_STARTS || !String(error).includes('Address already in use')) throw error;
      }
    }
  }

  static async #start(options: SmgOptions): Promise<SmgProcess> {
    const { version, flags, together = false } = options;
    const workers = options.workers.map((worker) => (typeof worker === 'string' ? { url: worker } : worker));
    const python: Python = await ensurePython(smgRequirement(version));
    const port = await freePort();
    const metricsPort = await freePort();
    const own = [
      ...['--host', '127.0.0.1', '--port', String(port)],
      ...['--prometheus-host', '127.0.0.1', '--prometheus-port', String(metricsPort)],
      ...['--worker-startup-check-interval', '1', '--log-level', 'error'],
    ];
    const known = together ? ['--worker-urls', ...workers.map(({ url }) => url)] : [];
    const env = { ...process.env, PYTHONPATH: python.pythonPath, PYTHONDONTWRITEBYTECODE: '1' };
    const child = new Child(python.interpreter, [LAUNCHER, ...flags, ...own, ...known], env);
    const smg = new SmgProcess(`http://127.0.0.1:${port}`, `http://127.0.0.1:${metricsPort}`, child);
    try {
      await until(async () => !child.running || (await smg.#answers('/liveness')), 'SMG answers', 20_000);
      if (!child.running) throw new Error(`SMG ended: ${child.output}`);
      if (!together) for (const worker of workers) await smg.#add(worker);
      await until(async () => (await smg.ready()).size === workers.length, 'all workers of SMG are ready');
    } catch (error) {
      await smg.stop();
      throw error;
    }
    return smg;
  }

  get pid(): number {
    return this.#child.pid;
  }

  get output(): string {
    return this.#child.output;
  }

  /** URLs of the workers that SMG calls ready. */
  async ready(): Promise<ReadonlySet<string>> {
    const { workers } = (await ask(this.url, { path: '/workers' })).json as {
      workers: { url: string; status: string }[];
    };
    return new Set(workers.filter((worker) => worker.status === 'ready').map((worker) => worker.url));
  }

  async metrics(): Promise<Metrics> {
    return new Metrics(parseExposition((await ask(this.#metricsUrl, { path: '/metrics' })).text).samples);
  }

  /** Kills it: it would wait for idle connections, and has nothing to lose. */
  stop(): Promise<void> {
    return this.#child.stop('SIGKILL');
  }

  async #answers(path: string): Promise<boolean> {
    return (await ask(this.url, { path })).status === 200;
  }

  /** Registers one worker and waits for it, so that the order of registration is the order of the calls. */
  async #add(worker: WorkerDeclaration): Promise<void> {
    const { url } = worker;
    const { status, text } = await ask(this.url, { path: '/workers', body: worker });
    if (status !== 202) throw new Error(`SMG refused ${url}: ${status} ${text}`);
    await until(async () => (await this.ready()).has(url), `${url} is ready at SMG`);
  }
}
