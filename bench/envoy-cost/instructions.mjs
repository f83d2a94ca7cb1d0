/**
 * An Envoy whose instructions are counted by valgrind. Slow, but the same count whatever else the machine does; what the kernel
 * does for it is not in it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEnvoy } from '../end-to-end/stack.mjs';

export const countsInstructions = spawnSync('valgrind', ['--version']).status === 0;

/** Answers with the Envoy, and with `during`, which counts the instructions of its user code while something is done. */
export async function startCounted(binary, yaml, port) {
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-counted-'));
  const options = ['--tool=callgrind', '--instr-atstart=no', `--callgrind-out-file=${folder}/out`, '-q'];
  const envoy = await startEnvoy(binary, yaml, port, ['valgrind', ...options]);
  const control = (...words) => {
    const done = spawnSync('callgrind_control', [...words, String(envoy.pid)], { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`callgrind_control: ${done.stderr}${done.stdout}`);
  };
  let counting = false;
  return {
    pid: envoy.pid,
    async during(action) {
      // Turned off and on again, it would lose count.
      if (!counting) control('-i', 'on');
      counting = true;
      control('-z');
      const done = await action();
      control('-d');
      return { done, instructions: totalIn(folder) };
    },
    async stop() {
      await envoy.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Of the latest dump. */
function totalIn(folder) {
  const dumps = readdirSync(folder).filter((name) => /^out\.\d+$/.test(name));
  const latest = Math.max(...dumps.map((name) => Number(name.slice(4))));
  const text = readFileSync(join(folder, `out.${latest}`), 'utf8');
  return Number(/^(?:totals|summary): (\d+)/m.exec(text)?.[1]);
}
