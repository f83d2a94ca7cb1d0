/**
 * The service asked by a client that speaks like Envoy, on its own HTTP/2 and without an Envoy between:
 * `node bench/transport.mjs [saturation] [paced] [fast] [idle] [--out FILE]`. `--only NAME,NAME` takes some variants; the
 * numbers below are options, too.
 *
 * One service for each transport, on the same core; they take turns, round after round. Ends with exit code 1 when a call on
 * our own transport failed or was not placed, and with 2 when a promised ratio was missed. Loopback only.
 */
import { ensureBuild, say } from '../scripts/setup.mjs';
import { begin, finish } from './lib/report.mjs';
import { SCENARIOS } from './transport/scenarios.mjs';
import { startStands } from './transport/stands.mjs';
import { problemsIn, summarize, verdicts } from './transport/summary.mjs';
import { TRANSPORTS, VARIANTS } from './transport/variants.mjs';

const { settings, positionals, only, report, out } = begin('transport', {
  rounds: 5,
  /** Length of a round. */
  seconds: 4,
  'warm-up': 3,
  connections: 2,
  /** Places for calls on each connection at saturation. */
  streams: 32,
  rate: 1000,
  'fast-rate': 4000,
  /** Streams held open at once. */
  open: 5000,
});
for (const name of positionals) if (!(name in SCENARIOS)) throw new Error(`no scenario ${name}`);
for (const name of only ?? []) if (!VARIANTS.some((each) => each.name === name)) throw new Error(`no variant ${name}`);
const names = positionals.length === 0 ? Object.keys(SCENARIOS) : positionals;
const variants = VARIANTS.filter(({ name }) => only === null || only.includes(name));
const [ours, base] = TRANSPORTS;
ensureBuild();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

report.scenarios = {};
const start = () => startStands(TRANSPORTS.map((name) => ({ name, flags: ['--transport', name] })));
const lasting = names.filter((name) => SCENARIOS[name].fresh !== true);
if (lasting.length > 0) {
  await withStands(async ({ stands, client }) => {
    say('warming up …');
    const { connections, streams } = settings;
    const order = { kind: 'closed', seconds: settings['warm-up'], connections, streams, variant: VARIANTS[0] };
    for (const { address, name } of stands) await client.ask({ ...order, address, name });
    for (const name of lasting) report.scenarios[name] = await scenario(name, stands, client);
  });
}
for (const name of names.filter((each) => !lasting.includes(each))) {
  await withStands(async ({ stands, client }) => {
    report.scenarios[name] = await scenario(name, stands, client);
  });
}
report.verdicts = verdicts(report.scenarios);
report.problems = problemsIn(report.scenarios, ours);
for (const { what, budget, ratio, met } of report.verdicts) say(`${what}: ${ratio}, ${budget}: ${met ? 'yes' : 'NO'}`);
for (const problem of report.problems) say(problem);
finish(report, out);
if (report.problems.length > 0) process.exitCode = 1;
else if (report.verdicts.some(({ met }) => !met)) process.exitCode = 2;

async function withStands(use) {
  const all = await start();
  report.pinned = all.pinned;
  try {
    await use(all);
  } finally {
    await all.stop();
  }
}

async function scenario(name, stands, client) {
  const { rounds: roundsOf, run, only: takes = () => true } = SCENARIOS[name];
  const count = roundsOf(settings);
  const rounds = {};
  for (let round = 1; round <= count; round++) {
    for (const variant of variants.filter(takes)) {
      // Who goes first changes, so that neither has always the warmer machine.
      for (const stand of round % 2 === 1 ? stands : stands.toReversed()) {
        const row = await run(variant, stand, client, settings);
        rounds[variant.name] ??= {};
        rounds[variant.name][stand.name] ??= [];
        rounds[variant.name][stand.name].push(row);
        say(`${name} ${round}/${count} ${variant.name.padEnd(14)} ${stand.name.padEnd(8)} ${JSON.stringify(row)}`);
      }
    }
  }
  return { rounds, summary: summarize(rounds, base) };
}
