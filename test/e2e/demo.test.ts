import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { accepts, Child, freePort, noEnvoy, until } from '../support/services.ts';

const program = fileURLToPath(new URL('../../bin/smg-envoy.js', import.meta.url));

const started: Child[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) await child.stop('SIGKILL');
});

function run(...args: readonly string[]): Child {
  const child = new Child(process.execPath, [program, ...args]);
  started.push(child);
  return child;
}

/** Starts a demo on free ports and waits until it says what to try. */
async function startDemo(...args: readonly string[]): Promise<{ child: Child; listen: number; ports: number[] }> {
  const listen = await freePort();
  const child = run('demo', '--listen', `127.0.0.1:${listen}`, '--grpc-port', '0', '--admin-port', '0', ...args);
  await until(() => child.output.includes('Ctrl-C') || !child.running, 'the demo runs', 60_000);
  const ports = [...child.output.matchAll(/127\.0\.0\.1:(\d+)/g)].map((match) => Number(match[1]));
  return { child, listen, ports: [...new Set(ports)] };
}

const openPorts = async (ports: readonly number[]): Promise<number[]> => {
  const open = await Promise.all(ports.map((port) => accepts(port)));
  return ports.filter((_, index) => open[index]);
};

const header = (answer: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\r$`, 'im').exec(answer)?.[1];

describe.skipIf(noEnvoy())('interface 2: demo', () => {
  it('the printed curl lines work, and show what they say', async () => {
    const { child } = await startDemo();
    const lines = child.output.split('\n').filter((line) => line.startsWith('  curl'));
    expect(lines).toHaveLength(3);

    const ask = (line: string): string => execFileSync('sh', ['-c', line], { encoding: 'latin1' });
    const [first, next, keyed, again] = [...lines, lines[2]!].map(ask);

    for (const answer of [first, next, keyed, again]) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    const worker = (answer: string | undefined) => header(answer ?? '', 'x-smg-routed-worker-id');
    expect(worker(first)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(worker(next)).toBe(worker(first));
    expect(worker(again)).toBe(worker(keyed));
    expect(child.output).toContain(worker(keyed));
  });

  it('runs as many workers as asked for, and GET /v1/models goes to one', async () => {
    const { child, listen } = await startDemo('--workers', '5');
    expect(child.output.match(/^ {2}sim-\d/gm)).toHaveLength(5);
    const answer = await fetch(`http://127.0.0.1:${listen}/v1/models`);
    expect(answer.headers.get('x-sim-worker')).toMatch(/^sim-[1-5]$/);
  });

  it('policies 4: splits requests between two prefill and two decode workers', async () => {
    const { child, listen } = await startDemo('--pd-disaggregation');
    expect(child.output.match(/^ {2}sim-\d (prefill|decode)/gm)).toHaveLength(4);
    const answer = await fetch(`http://127.0.0.1:${listen}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model":"sim-model","messages":[]}',
    });
    expect(answer.headers.get('x-sim-prefill')).toMatch(/^sim-[12]$/);
    expect(answer.headers.get('x-sim-worker')).toMatch(/^sim-[34]$/);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('%s leaves nothing running', async (signal) => {
    const { child, ports } = await startDemo();
    expect(await openPorts(ports)).toEqual(ports);

    child.signal(signal);

    expect(await child.ended()).toBe(signal === 'SIGKILL' ? null : 0);
    await until(async () => (await openPorts(ports)).length === 0, 'all ports are closed');
  });

  it.each(['--listen', '--grpc-port', '--admin-port'])('names the port and %s when it is taken', async (flag) => {
    const { listen: taken } = await startDemo();
    const free = { '--listen': `127.0.0.1:${await freePort()}`, '--grpc-port': '0', '--admin-port': '0' };
    const flags = { ...free, [flag]: flag === '--listen' ? `127.0.0.1:${taken}` : String(taken) };

    const child = run('demo', ...Object.entries(flags).flat());

    expect(await child.ended()).toBe(1);
    expect(child.output).toBe(
      `smg-envoy: port ${taken} of 127.0.0.1 is taken by another program; choose another with ${flag}\n`,
    );
  });
});

describe('interface 2: sim', () => {
  it('runs until a signal', async () => {
    const child = run('sim', '--count', '2', '--port', '0', '--models', 'a', 'b', '--digest');
    await until(() => child.output.split('\n').length === 3, 'two workers');
    const url = /^sim-2 (.*)$/m.exec(child.output)?.[1] ?? '';
    const models = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
    expect(models.data.map((model) => model.id)).toEqual(['a', 'b']);
    child.signal('SIGTERM');
    expect(await child.ended()).toBe(0);
  });

  it.each([
    [['--fail-rate', '2'], '--fail-rate: 2 is not a number from 0 to 1'],
    [['--tokens', 'many'], '--tokens: "many" is not an integer from 0 to 1000000'],
    [['--count', '0'], '--count 0: expected a whole number from 1 to 1000'],
    [['--spread', 'wide'], '--spread wide: expected ports or addresses'],
    [['--unknown'], "unknown option '--unknown'"],
  ])('%j is refused', async (args, message) => {
    const child = run('sim', ...args);
    expect(await child.ended()).toBe(2);
    expect(child.output).toContain(message);
  });
});
