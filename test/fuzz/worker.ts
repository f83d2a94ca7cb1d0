/** The thread that plays the inputs of one run, and reports it. */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { keepInput, readCorpus } from './lib/corpus.ts';
import { Coverage } from './lib/coverage.ts';
import { type FuzzResult, fuzz } from './lib/fuzz.ts';
import { failureOf, shrink } from './lib/shrink.ts';
import type { Target } from './lib/target.ts';

interface Task {
  /** How many inputs began, and the length of the current one. */
  readonly count: SharedArrayBuffer;
  /** The current input, for when it never ends. */
  readonly input: SharedArrayBuffer;
  readonly target: string;
  readonly folder: string;
  readonly inputs: number;
  readonly seconds: number;
  readonly seed: number;
  readonly replay: string | null;
  /** Without a look at branches, which costs three quarters of the speed. */
  readonly plain: boolean;
  readonly keep: boolean;
  readonly missed: boolean;
}

const task = workerData as Task;
// An input that is no message is no error worth a trace: thousands are made in a second.
Error.stackTraceLimit = 6;

const coverage = task.plain ? null : new Coverage();
const { TARGETS } = await import('./targets/index.ts');
const make = TARGETS[task.target];
if (make === undefined) throw new Error(`no such target: ${task.target}`);
const target = make();
coverage?.watch(target.sources);
parentPort?.postMessage(task.replay === null ? await run(target) : await replay(target, task.replay));
await target.close?.();

async function replay(played: Target, path: string) {
  const input = readFileSync(path);
  const failure = await failureOf(played, input);
  const shown = (await played.show?.(input)) ?? input.toString('latin1');
  return { failed: failure !== null, row: null, lines: [shown, failure ?? 'holds'] };
}

async function run(played: Target) {
  const count = new Int32Array(task.count);
  const place = new Uint8Array(task.input);
  const corpus = readCorpus(task.folder);
  const result = await fuzz(played, {
    inputs: task.inputs,
    seconds: task.seconds,
    seed: task.seed,
    corpus: corpus.map(({ input }) => input),
    coverage,
    onInput: (input) => {
      count[0] = (count[0] ?? 0) + 1;
      count[1] = Math.min(input.length, place.length);
      place.set(input.length > place.length ? input.subarray(0, place.length) : input);
    },
  });
  const lines = summary(played, result, coverage?.share ?? null);
  if (result.finding !== null) lines.push(...(await finding(played, result.finding.input, result.finding.message)));
  if (task.keep) for (const input of result.kept) keepInput(task.folder, 'seed', input);
  if (task.missed) lines.push(...(coverage?.missed() ?? []));
  coverage?.close();
  return { failed: result.finding !== null || result.leaks, lines, row: row(result, coverage?.share ?? null) };
}

function summary(played: Target, result: FuzzResult, share: number | null): string[] {
  const counts = Object.entries(played.counts?.() ?? {}).map(([name, value]) => `${name} ${value}`);
  return [
    `${task.target} seed ${task.seed}: ${result.inputs} inputs in ${result.seconds.toFixed(1)} s, ${Math.round(result.inputs / result.seconds)}/s`,
    `corpus ${task.keep ? 'grew by' : 'would grow by'} ${result.kept.length}, ${percent(share)} of the code ran`,
    `memory ${result.leaks ? 'LEAKS' : 'flat'}: ${(result.memoryGrowth / 1024).toFixed(0)} KiB from the second quarter to the last (KiB: ${result.memory.map((bytes) => Math.round(bytes / 1024)).join(' ')})`,
    ...(counts.length > 0 ? [counts.join(', ')] : []),
  ];
}

async function finding(played: Target, input: Buffer, message: string): Promise<string[]> {
  const shorter = message.startsWith('slow') ? input : await shrink(played, input, message);
  const path = keepInput(task.folder, 'finding', shorter);
  const short = shorter === input ? message : ((await failureOf(played, shorter)) ?? message);
  return ['FINDING', short, `input: ${path}`, `replay: npm run fuzz -- ${task.target} --replay ${path}`];
}

function percent(share: number | null): string {
  return share === null ? '–' : `${(share * 100).toFixed(1)} %`;
}

/** One line of the table of runs. */
function row(result: FuzzResult, share: number | null): string {
  const day = new Date().toISOString().slice(0, 16).replace('T', ' ');
  const found = result.finding === null ? 'none' : 'yes';
  return `| ${task.target} | ${day} | ${result.inputs.toLocaleString('en')} | ${result.seconds.toFixed(0)} | ${task.seed} | ${found} | ${(result.memoryGrowth / 1024).toFixed(0)} KiB | ${percent(share)} | \`npm run fuzz -- ${task.target} --inputs ${task.inputs} --seed ${task.seed}${task.plain ? ' --plain' : ''}\` |`;
}
