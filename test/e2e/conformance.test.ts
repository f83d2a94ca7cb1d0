import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from '../../src/conformance/catalogue.ts';
import { type Sim, startSim } from '../../src/sim/start-sim.ts';
import { ServiceProcess, until } from '../support/services.ts';

const COMMON = ['--error-style', 'epp', '--log-level', 'warn', '--worker-urls'];

/** `--policy least_load` minds running requests, so that counts show; the key override makes pins. */
const OPEN = ['--policy', 'least_load', '--routing-key-override', '--test-endpoint-selection'];
const SHEDDING = ['--worker-overload-waiting-requests', '5', '--load-monitor-interval', '1'];

let sims: readonly Sim[] = [];
let service: ServiceProcess;
let overloaded: ServiceProcess;
let plain: ServiceProcess;
let lines: readonly string[];
let output: string;

beforeAll(async () => {
  sims = await Promise.all([startSim({ count: 3 }), startSim({ count: 1, host: '::1', first: 4 })]);
  const urls = sims.flatMap((sim) => sim.urls);
  const full = await startSim({ count: 1, waiting: 9 });
  sims = [...sims, full];
  [service, overloaded, plain] = await Promise.all([
    ServiceProcess.start([...OPEN, ...COMMON, ...urls]),
    ServiceProcess.start([...SHEDDING, ...COMMON, ...full.urls]),
    ServiceProcess.start(['--routing-key-override', ...COMMON, ...urls]),
  ]);
  await until(() => areReady(service, urls.length), 'all workers are ready', 20_000);
  await until(async () => (await overloaded.metrics()).sum('smg_workers_overloaded') === 1, 'it sheds', 20_000);
  const endpoints = urls.map((url) => url.replace('http://', '')).join(',');
  const run = await service.cli(
    [
      ...['conformance', '--target', `127.0.0.1:${service.grpcPort}`, '--endpoints', endpoints],
      ...['--overloaded-target', `127.0.0.1:${overloaded.grpcPort}`],
      ...['--sticky-header', 'x-smg-routing-key', '--model', 'sim-model', '--test-endpoint-selection'],
    ],
    { admin: false },
  );
  output = run.output;
  lines = output.split('\n');
});

async function areReady(of: ServiceProcess, count: number): Promise<boolean> {
  const { workers } = (await of.admin('/workers')).json as { workers: readonly { status: string }[] };
  return workers.filter(({ status }) => status === 'ready').length === count;
}

afterAll(async () => {
  await Promise.all([service?.stop(), overloaded?.stop(), plain?.stop(), ...sims.map((sim) => sim.close())]);
});

describe('endpoint-picker-protocol 10: conformance of the service, by its own command', () => {
  it.each(CHECKS)('$id: $title', ({ id, title }) => {
    const line = lines.find((it) => it.startsWith(`${id} `));
    expect(line, output).toContain(title);
    expect(line, output).toMatch(/ pass +[\d.]+ s$/);
  });

  it('sums up', () => {
    expect(output).toContain(`${CHECKS.length} passed, 0 failed, 0 skipped`);
  });

  it('finds nothing in the policy that is the default, which charges workers until their next report', async () => {
    await until(() => areReady(plain, 4), 'all workers are ready', 20_000);
    const target = ['conformance', '--target', `127.0.0.1:${plain.grpcPort}`, '--sticky-header', 'x-smg-routing-key'];
    const run = await plain.cli([...target, '--only', 'P2,P6,P9,P11'], { admin: false });
    expect(run.output).toContain(' 0 failed');
    expect(run.code).toBe(0);
  });

  it('fails with exit code 1 where a check fails, and tells what was sent, expected and came', async () => {
    const target = ['conformance', '--target', `127.0.0.1:${overloaded.grpcPort}`, '--only', 'P1,P10'];
    const run = await overloaded.cli(target, { admin: false });
    expect(run.code).toBe(1);
    expect(run.output).toMatch(/^P1 .* fail /m);
    expect(run.output).toMatch(/^P10 .* pass /m);
    expect(run.output).toContain('sent      full duplex, GET');
    expect(run.output).toContain('came      immediate response 429');
  });
});
