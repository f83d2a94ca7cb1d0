import { expect, it } from 'vitest';
import { runProgram } from '../program.ts';
import { demoCommand } from './demo.ts';
import { simCommand } from './sim.ts';

it.each([
  ['demo --workers many', '--workers many: expected a whole number from 0 to 999'],
  ['demo --workers -1', '--workers -1: expected a whole number from 0 to 999'],
  ['demo --pd-disaggregation --engine tgi', '--engine tgi: expected vllm or sglang'],
  ['demo --engine tgi', '--engine tgi: expected vllm or sglang'],
  ['demo --engine sglang', '--engine sglang: only with --pd-disaggregation'],
  ['demo --listen here', '--listen here: expected IP:PORT'],
  ['sim --port 65535 --count 2', '--port 65535: expected room for 2 ports below 65536'],
  ['sim --port 65536', '--port 65536: expected a whole number from 0 to 65535'],
  ['sim --count 0', '--count 0: expected a whole number from 1 to 1000'],
])('interface 2: %s ends at once, before anything is fetched or started', async (words, message) => {
  let err = '';
  const shell = {
    env: {},
    out: () => undefined,
    err: (text: string) => {
      err += text;
    },
  };
  expect(await runProgram([demoCommand, simCommand], words.split(' '), shell)).toBe(2);
  expect(err).toMatch(/^smg-envoy: [^\n]*\n$/);
  expect(err).toContain(message);
});
