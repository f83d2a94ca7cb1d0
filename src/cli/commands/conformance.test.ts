import { describe, expect, it } from 'vitest';
import { runProgram } from '../program.ts';
import { conformanceCommand } from './conformance.ts';

async function run(...words: readonly string[]) {
  let out = '';
  const write = (text: string): void => {
    out += text;
  };
  const code = await runProgram([conformanceCommand], ['conformance', ...words], { env: {}, out: write, err: write });
  return { code, out };
}

describe('interface 2 conformance: exit codes', () => {
  it.each([
    [['--target', 'nowhere'], 2, '--target nowhere: expected HOST:PORT or unix:PATH'],
    [['--target', 'http://127.0.0.1:9'], 2, '--target http://127.0.0.1:9: expected HOST:PORT or unix:PATH'],
    [['--target', '127.0.0.1:0'], 2, '--target 127.0.0.1:0: expected HOST:PORT or unix:PATH'],
    [['--target', '127.0.0.1:65536'], 2, '--target 127.0.0.1:65536: expected HOST:PORT or unix:PATH'],
    [['--target', '127.0.0.1:9', '--path', 'v1'], 2, '--path v1: expected a path that starts with /'],
    [['--target', '127.0.0.1:9', '--sticky-header', 'a b'], 2, '--sticky-header a b: expected a header name'],
    [['--target', '127.0.0.1:9', '--only', 'P99'], 2, '--only P99: expected ids of P1, P2'],
    [['--target', '127.0.0.1:9', '--skip', 'x'], 2, '--skip X: expected ids of P1, P2'],
    [['--target', '127.0.0.1:9', '--timeout', '0'], 2, '--timeout 0: expected a whole number from 1'],
    [['--target', '127.0.0.1:9', '--resets', 'many'], 2, '--resets many: expected a whole number from 1'],
    [['--target', '127.0.0.1:9', '--body', '/no/such/file'], 2, '--body /no/such/file: '],
    [['--target', '127.0.0.1:9', '--overloaded-target', 'x'], 2, '--overloaded-target x: expected HOST:PORT'],
    [
      ['--target', '127.0.0.1:9', '--endpoints', '10.0.0.1:80,fd00::1:80'],
      2,
      '--endpoints fd00::1:80: expected ip:port',
    ],
    [['--colour'], 2, '--colour'],
    [[], 2, '--target HOST:PORT is required'],
    [['--target', '127.0.0.1:9', '--timeout', '1'], 1, '127.0.0.1:9: '],
  ] as const)('%j', async (words, code, message) => {
    const ended = await run(...words);
    expect(ended.out).toContain(message);
    expect(ended.code).toBe(code);
  });

  it('lists the checks that are chosen, without a target', async () => {
    const { code, out } = await run('--list', '--only', 'P1,e2', '--skip', 'P1');
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.split(' ')[0])).toEqual(['ID', 'E2', '']);
  });

  it('lists them as JSON', async () => {
    const { code, out } = await run('--list', '--json', '--only', 'P10');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual([{ id: 'P10', title: expect.any(String), source: expect.any(String) }]);
  });
});
