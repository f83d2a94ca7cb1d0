import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../../test/support/http.ts';
import { load } from '../../test/support/try-load.ts';
import { until } from '../../test/support/until.ts';
import { type Sim, startSim } from '../sim/start-sim.ts';
import { type RunningService, startService } from './start-service.ts';

let sim: Sim;
let folder: string;
let service: RunningService | undefined;
beforeEach(async () => {
  sim = await startSim();
  folder = mkdtempSync(join(tmpdir(), 'smg-envoy-sources-'));
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  await sim.close();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(flags: string) {
  const started = await startService(load({ flags: `--grpc-port 0 --admin-port 0 --log-level error ${flags}` }), {
    version: 'test',
  });
  service = started;
  const get = async (path: string) => (await ask(`http://${started.adminAddress}`, { path })).json;
  const workers = async () =>
    (await get('/workers')).workers.map(
      ({ id, source, status }: Record<string, string>) => `${source} ${id} ${status}`,
    );
  return { get, workers };
}

describe('sources of workers', () => {
  it('a workers file is read before the gRPC port opens, and flags go before it', async () => {
    const file = join(folder, 'workers.yaml');
    const [first, second, third] = sim.urls as [string, string, string];
    writeFileSync(file, `- url: ${second}\n- url: ${first}\n  name: mine\n`);

    const { get, workers } = await serve(`--worker-urls ${first} --workers-file ${file}`);

    expect(await workers()).toEqual([`flags ${first} ready`, `workers_file ${second} ready`]);
    expect(await get('/readiness')).toMatchObject({
      status: 'ready',
      worker_sources: [{ source: 'workers_file', status: 'live' }],
    });
    writeFileSync(file, `- url: ${third}\n`);
    await until(async () => (await workers()).join().includes(`workers_file ${third} ready`), 'the third is ready');
    expect(await workers()).toHaveLength(2);
  });

  it('a workers file that cannot be used at the start ends it', async () => {
    const file = join(folder, 'workers.yaml');
    writeFileSync(file, '- url: nonsense\n');

    await expect(serve(`--workers-file ${file}`)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/^--workers-file: .*workers\.yaml:1:8: url: /),
    });
  });

  it('a name in --worker-urls stands for each of its addresses', async () => {
    const { port } = new URL(sim.urls[0]!);

    const { get, workers } = await serve(`--worker-urls dns+http://localhost:${port}`);

    expect(await workers()).toContain(`dns http://127.0.0.1:${port} ready`);
    expect((await get('/readiness')).worker_sources).toEqual([{ source: 'dns', status: 'live' }]);
  });

  it('a name in --prefill and --decode does so, too, with the role and the bootstrap port', async () => {
    const [prefill, decode] = sim.urls.map((url) => new URL(url).port);

    const { get, workers } = await serve(
      `--pd-disaggregation --prefill dns+http://localhost:${prefill} 9001 --decode dns+http://localhost:${decode} ` +
        '--prefill-policy power_of_two --decode-policy power_of_two',
    );

    expect(await workers()).toEqual(
      expect.arrayContaining([`dns http://127.0.0.1:${prefill} ready`, `dns http://127.0.0.1:${decode} ready`]),
    );
    const roles = (await get('/workers')).workers.map(
      ({ id, worker_type, bootstrap_port }: Record<string, unknown>) => [id, worker_type, bootstrap_port],
    );
    expect(roles).toEqual(
      expect.arrayContaining([
        [`http://127.0.0.1:${prefill}`, 'prefill', 9001],
        [`http://127.0.0.1:${decode}`, 'decode', null],
      ]),
    );
  });
});
