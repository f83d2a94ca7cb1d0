import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Credentials } from './cluster-access.ts';
import { jsonObject, textOf } from './pod.ts';

/** A program of a kubeconfig that hands out credentials, as clouds have them (client.authentication.k8s.io). */
export interface ExecSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
}

/** How long before the end of a credential another one is asked for. */
const MARGIN_MS = 60_000;
const TIMEOUT_MS = 30_000;

/** Runs the program when its last answer is used up. */
export class ExecCredential {
  readonly #spec: ExecSpec;
  readonly #folder: string;
  #held: { readonly credentials: Credentials; readonly until: number } | null = null;

  /** @param folder where the kubeconfig lies: a command with a slash is found from there */
  constructor(spec: ExecSpec, folder: string) {
    this.#spec = spec;
    this.#folder = folder;
  }

  async get(): Promise<Credentials> {
    if (this.#held === null || Date.now() >= this.#held.until) this.#held = await this.#run();
    return this.#held.credentials;
  }

  drop(): void {
    this.#held = null;
  }

  async #run(): Promise<{ credentials: Credentials; until: number }> {
    const { command, args, env, apiVersion } = this.#spec;
    const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
    const program = command.includes('/') ? resolve(this.#folder, command) : command;
    const { stdout } = await promisify(execFile)(program, [...args], {
      env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: info },
      timeout: TIMEOUT_MS,
      maxBuffer: 1024 * 1024,
    });
    const status = jsonObject(jsonObject(JSON.parse(stdout))['status']);
    const token = textOf(status['token']);
    const cert = textOf(status['clientCertificateData']);
    const key = textOf(status['clientKeyData']);
    if (token === '' && cert === '') throw new Error(`${command} gave neither a token nor a certificate`);
    const expires = Date.parse(textOf(status['expirationTimestamp']));
    return {
      credentials: { token: token || null, cert: cert || null, key: key || null },
      until: Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires - MARGIN_MS,
    };
  }
}
