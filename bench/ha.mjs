/**
 * High availability, as clients see it: `node bench/ha.mjs [name …] [--out FILE]`. Several replicas of the service share pins in
 * one Redis behind one real Envoy, before simulated workers; conversations go on while replicas and Redis are killed. Loopback only.
 *
 * The numbers below are options, too. Ends with exit code 1 when a client got an error, a conversation was split that must not
 * be, or a bound was missed.
 */
import { spawnSync } from 'node:child_process';
import { ensureBuild, say } from '../scripts/setup.mjs';
import { PROOFS } from './ha/proofs.mjs';
import { begin, finish } from './lib/report.mjs';

const { settings, positionals, report, out } = begin('ha', {
  replicas: 3,
  workers: 3,
  conversations: 10_000,
  turns: 5,
  /** First requests of a conversation that are sent at once. */
  racing: 2,
  /** Conversations that go on at the same time. */
  abreast: 64,
  /** Milliseconds between two kills of a replica. */
  'kill-every-ms': 2000,
  /** Requests a second while replicas are restarted, and rounds of restarts. */
  'rolling-rate': 500,
  rounds: 3,
  /** Pins that are moved, and how many each second. */
  moves: 1000,
  'moves-a-second': 25,
  /** Requests a second while Redis is away, and seconds before, during and after. */
  'outage-rate': 300,
  seconds: 10,
  /** Pins of the memory figures, and new keys a second of the latency figures. */
  pins: 200_000,
  'claims-a-second': 500,
  /** `--pin-claim-timeout-ms` */
  'claim-timeout-ms': 50,
  /** Seconds that each proof waits at most for the machine to have nothing else to do. */
  'patience-secs': 5,
  /** Times that a proof is made at most, until nothing else ran before and after it. */
  tries: 1,
});
for (const name of positionals)
  if (!(name in PROOFS)) throw new Error(`no proof ${name}; proofs are ${Object.keys(PROOFS).join(', ')}`);
ensureBuild();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
const { loadKit } = await import('./ha/kit.mjs');
const { idleShare, QUIET, quietMachine } = await import('./ha/quiet.mjs');
const kit = await loadKit();
report.versions.redis = /v=(\S+)/.exec(spawnSync('redis-server', ['--version'], { encoding: 'utf8' }).stdout)?.[1];
report.proofs = {};
report.problems = [];
for (const [name, prove] of Object.entries(PROOFS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const { problems, ...figures } = await proven(name, prove);
  report.proofs[name] = figures;
  report.problems.push(...problems.map((problem) => `${name}: ${problem}`));
}
for (const problem of report.problems) say(problem);
finish(report, out);
process.exit(report.problems.length === 0 ? 0 : 1);

/** A proof, made again while the machine had other work before or after it. */
async function proven(name, prove) {
  for (let tries = 1; ; tries++) {
    const before = await quietMachine(settings['patience-secs']);
    const started = performance.now();
    const figures = await prove(kit, settings);
    const seconds = Math.round((performance.now() - started) / 1000);
    const after = await idleShare();
    say(`${name}: (${seconds} s, idle before and after: ${before}, ${after}) ${JSON.stringify(figures)}`);
    if (tries >= settings.tries || (before >= QUIET && after >= QUIET)) return { idle: [before, after], ...figures };
  }
}
