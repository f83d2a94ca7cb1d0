import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ENVOY_IMAGE } from '../../src/demo/envoy-release.ts';
import type { EnvoyRuntime } from '../../src/demo/envoy-runtime.ts';
import { envoyCommand, findContainerEngine, findEnvoy } from '../../src/demo/envoy-runtime.ts';
import { Child } from './child.ts';
import { accepts } from './ports.ts';
import { missing } from './require.ts';
import { until } from './until.ts';

function runtimeHere(): EnvoyRuntime | undefined {
  const found = findEnvoy();
  if (found !== undefined) return found;
  const engine = findContainerEngine();
  return engine === undefined ? undefined : { kind: 'container', engine, image: ENVOY_IMAGE };
}

const runtime = runtimeHere();

/** For `describe.skipIf(noEnvoy())`. */
export function noEnvoy(): boolean {
  const reason = 'no Envoy; `npm test` installs one, ENVOY_BIN names one';
  return missing('envoy', runtime === undefined ? reason : undefined);
}

/** The command line of Envoy over a configuration, and a folder to remove afterwards. */
function prepare(
  yaml: string,
  args: readonly string[],
  envoy: EnvoyRuntime | undefined = runtime,
): { command: string; args: string[]; folder: string } {
  if (envoy === undefined) throw new Error('no Envoy');
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-test-'));
  const file = join(folder, 'envoy.yaml');
  writeFileSync(file, yaml);
  const [command = '', ...rest] = envoyCommand(envoy, folder, ['-c', file, ...args]);
  return { command, args: rest, folder };
}

/** Envoy's own verdict on a configuration: undefined when it accepts it, else what it says. */
export async function validateWithEnvoy(yaml: string): Promise<string | undefined> {
  const { command, args, folder } = prepare(yaml, ['--mode', 'validate', '-l', 'error']);
  const child = new Child(command, args);
  const code = await child.ended();
  rmSync(folder, { recursive: true });
  return code === 0 ? undefined : child.output || `exit code ${code}`;
}

interface SocketAddress {
  readonly address: string;
  readonly port_value: number;
}

interface Bootstrap {
  readonly admin?: { readonly address: { readonly socket_address: SocketAddress } };
  readonly static_resources: {
    readonly listeners: readonly { readonly address: { readonly socket_address: SocketAddress } }[];
  };
}

/** A running Envoy. */
export interface EnvoyHandle {
  readonly kind: 'envoy';
  /** `http://host:port` of the first listener. */
  readonly url: string;
  readonly port: number;
  /** `http://host:port` of its admin interface; empty when the configuration has none. */
  readonly adminUrl: string;
  readonly pid: number;
  /** What it wrote, the last 64 KiB. */
  readonly output: string;
  signal(name: NodeJS.Signals): void;
  /** Kills it and waits until a new one listens. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface EnvoyOptions {
  /** Worker threads, 1 when unset. */
  readonly concurrency?: number;
  /** Log level, `warning` when unset. */
  readonly log?: string;
  /** Another Envoy than the one of all tests. */
  readonly runtime?: EnvoyRuntime;
}

/** Starts Envoy with a configuration; resolves when its listeners accept, rejects with its output when it ends. */
export async function startEnvoy(yaml: string, options: EnvoyOptions = {}): Promise<EnvoyHandle> {
  const bootstrap = parse(yaml) as Bootstrap; // Envoy itself checks the shape
  const listeners = bootstrap.static_resources.listeners.map((listener) => listener.address.socket_address);
  const flags = ['--use-dynamic-base-id', '--concurrency', String(options.concurrency ?? 1)];
  const { command, args, folder } = prepare(yaml, [...flags, '-l', options.log ?? 'warning'], options.runtime);
  const child = new Child(command, args);
  const up = async (): Promise<void> => {
    await until(async () => {
      const open = await Promise.all(listeners.map((at) => accepts(at.port_value, at.address)));
      return !child.running || open.every(Boolean);
    }, 'Envoy listens');
    if (!child.running) throw new Error(`Envoy ended: ${child.output}`);
  };
  const stop = async (): Promise<void> => {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await up();
  } catch (error) {
    await stop();
    throw error;
  }
  const first = listeners[0] ?? { address: '', port_value: 0 };
  const admin = bootstrap.admin?.address.socket_address;
  return {
    kind: 'envoy',
    url: `http://${first.address}:${first.port_value}`,
    port: first.port_value,
    adminUrl: admin === undefined ? '' : `http://${admin.address}:${admin.port_value}`,
    get pid() {
      return child.pid;
    },
    get output() {
      return child.output;
    },
    signal: (name) => child.signal(name),
    restart: async () => {
      await child.restart();
      await up();
    },
    stop,
  };
}
