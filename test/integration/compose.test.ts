import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { CliCommand } from '../../src/cli/command.ts';
import { simCommand } from '../../src/cli/commands/sim.ts';
import { runProgram } from '../../src/cli/program.ts';
import { addSettingFlags, settingsOf as settingsOfCommand } from '../../src/cli/setting-flags.ts';
import type { Settings } from '../../src/config/load-settings.ts';
import { ENVOY_IMAGE } from '../../src/demo/envoy-release.ts';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
}

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const services = parse(read('docker-compose.yml'), { merge: true }).services as Record<string, Service>;
const workers = ['worker-1', 'worker-2', 'worker-3'];
const replicas = ['smg-envoy-1', 'smg-envoy-2'];

/** The settings that a replica of the service gets. */
async function settingsOf(replica: string): Promise<Settings> {
  let settings: Settings | undefined;
  const serve: CliCommand = {
    register(program, run) {
      const command = addSettingFlags(program.command('serve'));
      command.action(
        run(async () => {
          settings = settingsOfCommand(command, {}).settings;
          return 0;
        }),
      );
    },
  };
  let err = '';
  const shell = { env: {}, out: () => undefined, err: (text: string) => (err += text) };
  await runProgram([serve], services[replica]!.command, shell);
  if (settings === undefined) throw new Error(err);
  return settings;
}

describe('docker-compose.yml', () => {
  it('has Envoy, two replicas of the service, three workers and a Redis', () => {
    expect(Object.keys(services)).toEqual(['envoy', ...replicas, ...workers, 'redis']);
    expect(Object.values(services).filter((service) => service.profiles !== undefined)).toEqual([]);
  });

  it('pins every foreign image to a version', () => {
    expect(services['envoy']?.image).toBe(ENVOY_IMAGE);
    expect(services['redis']?.image).toMatch(/:\d+\.\d+\.\d+-alpine$/);
    for (const from of read('Dockerfile').matchAll(/^FROM (\S+)/gm)) {
      expect(from[1]).toMatch(/:\d+\.\d+\.\d+-slim$/);
    }
  });

  it('publishes on loopback only', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports).toEqual(['127.0.0.1:8080:8080', '127.0.0.1:9003:9003', '127.0.0.1:9013:9003']);
  });

  it.each(replicas)('gives %s flags that it takes, and the workers and the Redis that exist', async (replica) => {
    const settings = await settingsOf(replica);
    expect(settings.workerUrls).toEqual(workers.map((name) => `http://${name}:8000`));
    expect(settings.routingKeyOverride).toBe(true);
    expect(services[replica]?.command).toContain('--pin-store=redis://redis:6379');
  });

  it.each(workers)('gives %s flags that sim takes', async (name) => {
    let err = '';
    const shell = { env: {}, out: () => undefined, err: (text: string) => (err += text) };
    // An address that cannot be listened on: everything before that was accepted.
    const words = services[name]!.command.map((word) => word.replace('0.0.0.0', '192.0.2.1'));
    expect(words).toContain('--port=8000');
    expect(await runProgram([simCommand], words, shell)).toBe(1);
    expect(err).toContain('EADDRNOTAVAIL');
  });

  it("Envoy's configuration is the generated one, and names both replicas and their port", async () => {
    expect(services['envoy']?.volumes).toEqual(['./envoy/compose.yaml:/etc/envoy/envoy.yaml:ro']);
    const cases = JSON.parse(read('envoy/cases.json')) as Record<string, string[]>;
    for (const replica of replicas) {
      const { grpcPort } = await settingsOf(replica);
      expect(cases['compose.yaml']).toContain(`${replica}:${grpcPort}`);
    }
    expect(cases['compose.yaml']).toContain('0.0.0.0:8080');
  });

  const compose = spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0;
  it.skipIf(!compose)('docker compose accepts it', () => {
    const file = fileURLToPath(new URL('docker-compose.yml', root));
    const checked = spawnSync('docker', ['compose', '-f', file, 'config', '-q'], { encoding: 'utf8' });
    expect({ status: checked.status, stderr: checked.stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('Dockerfile', () => {
  it('runs as a user without rights, without development packages', () => {
    const final =
      read('Dockerfile')
        .split(/^FROM /m)
        .at(-1) ?? '';
    expect(final).toMatch(/^USER node$/m);
    expect(final).not.toMatch(/npm (ci|install)/);
    expect(read('Dockerfile')).toContain('npm prune --omit=dev');
  });

  it('copies what the ignore file lets through', () => {
    const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map((match) => match[1]);
    const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((m) => m[1]!.split(' '));
    expect(copied.filter((path) => !allowed.includes(path))).toEqual([]);
  });
});
