/**
 * What each part of the generated configuration costs inside Envoy: one Envoy per variant, all asking one service.
 *
 *     ENVOY_BIN=… node bench/envoy-cost.mjs [instructions] [time] [--only NAME,NAME] [--rounds 5] [--seconds 2] [--out FILE]
 *
 * `instructions`, the default, counts those of Envoy's own code for a request, by valgrind: the same count to a few in a thousand,
 * whatever else the machine does. `time` takes processor time, with the kernel's share, in interleaved rounds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ensureBuild, say } from '../scripts/setup.mjs';
import { begin, finish } from './lib/report.mjs';
import { median, rounded } from './lib/stats.mjs';

const { settings, positionals, only, report, out } = begin('envoy-cost', {
  rounds: 5,
  seconds: 2,
  /** Requests a second of the rounds that measure latency. */
  rate: 500,
  connections: 32,
  workers: 3,
  'warm-up': 2,
  'counted-seconds': 4,
});
const kinds = positionals.length === 0 ? ['instructions'] : positionals;
for (const kind of kinds) if (!['instructions', 'time'].includes(kind)) throw new Error(`no measure ${kind}`);
ensureBuild();
const { startClient, startWorkers } = await import('./end-to-end/client.mjs');
const { withoutUs } = await import('./end-to-end/plain-envoy.mjs');
const { configuration, startEnvoy, versionOf } = await import('./end-to-end/stack.mjs');
const { countsInstructions, startCounted } = await import('./envoy-cost/instructions.mjs');
const { LADDER, partsOf, VARIANTS } = await import('./envoy-cost/variants.mjs');
const { cpuMicros } = await import('./lib/proc.mjs');
const { startService } = await import('./lib/service.mjs');
const { freePort } = await import('../dist/demo/ports.js');
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const binary = process.env.ENVOY_BIN;
if (binary === undefined) throw new Error('ENVOY_BIN names no Envoy');
report.versions.envoy = versionOf(binary);

const HOST = '127.0.0.1';
const ON_SOCKET = 'service on a Unix socket';
const CHANGES = { ...VARIANTS, ...LADDER };
const names = ['plain', ...Object.keys(CHANGES)].filter((name) => only === null || only.includes(name));
const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-cost-'));
const socket = join(folder, 'grpc.sock');
const closers = [() => rmSync(folder, { recursive: true, force: true })];
try {
  const workers = await startWorkers(settings.workers);
  closers.push(workers.stop);
  const fleet = ['--worker-urls', ...workers.urls];
  // A key in a header decides alone: the service never asks for a body.
  const keyed = ['--policy', 'round_robin', '--routing-key-override', '--routing-key-order', 'header-first'];
  const onPort = await startService([...fleet, ...keyed]);
  closers.push(onPort.stop);
  const onSocket = await startService([...fleet, ...keyed, '--grpc-socket', socket]);
  closers.push(onSocket.stop);
  const client = startClient();
  closers.push(client.stop);
  const start = async (name, starter) => {
    const port = await freePort(HOST);
    const given = ['--listen', `${HOST}:${port}`, '--picker', onPort.grpc, ...fleet];
    const yaml =
      name === 'plain' ? withoutUs(configuration([...given, '--static-workers'])) : changed(name, [...given, ...keyed]);
    const service = name === 'plain' ? null : name === ON_SOCKET ? onSocket : onPort;
    return { name, port, service, client, envoy: await starter(binary, yaml, port) };
  };
  if (kinds.includes('instructions')) report.counted = await counted(start);
  if (kinds.includes('time')) report.timed = await timed(start);
} finally {
  await Promise.all(closers.map((close) => close()));
}
finish(report, out);

/** One Envoy after the other, since the count does not depend on when it is made. */
async function counted(start) {
  if (!countsInstructions) throw new Error('counting instructions needs valgrind');
  const rows = [];
  for (const name of names) {
    const stand = await start(name, startCounted);
    const order = { kind: 'closed', connections: 8 };
    await ask(stand, { ...order, seconds: settings['warm-up'] });
    const { done, instructions } = await stand.envoy.during(() =>
      ask(stand, { ...order, seconds: settings['counted-seconds'] }),
    );
    await stand.envoy.stop();
    const { sent, failed, split } = done;
    rows.push({ name, instructions: Math.round(instructions / sent), sent, failed, split });
    say(JSON.stringify(rows.at(-1)));
  }
  return rows;
}

/** All Envoys at once, in turns, so that a machine that slows down slows all. */
async function timed(start) {
  const stands = [];
  for (const name of names) {
    const stand = { ...(await start(name, startEnvoy)), closed: [], paced: [] };
    closers.push(stand.envoy.stop);
    stands.push(stand);
    await ask(stand, { kind: 'closed', seconds: settings['warm-up'] });
  }
  for (let round = 0; round < settings.rounds; round++) {
    say(`round ${round + 1} of ${settings.rounds}`);
    for (const stand of round % 2 === 0 ? stands : stands.toReversed()) {
      const { seconds, rate } = settings;
      stand.closed.push(await measured(stand, { kind: 'closed', seconds }));
      stand.paced.push(await measured(stand, { kind: 'paced', seconds, rate }));
    }
  }
  const rows = stands.map(({ name, closed, paced }) => ({ name, closed: middle(closed), paced: middle(paced) }));
  console.table(
    rows.map(({ name, closed, paced }) => ({ name, ...closed, pacedEnvoyUs: paced.envoyUs, p50Ms: paced.p50Ms })),
  );
  return { rows, samples: stands.map(({ name, closed, paced }) => ({ name, closed, paced })) };
}

function changed(name, flags) {
  const bootstrap = parse(configuration(flags));
  CHANGES[name](partsOf(bootstrap, socket));
  return stringify(bootstrap, { aliasDuplicateObjects: false });
}

function ask({ name, port, client }, order) {
  const key = name === 'plain' ? 'none' : 'header';
  const { connections } = settings;
  return client.ask({ name, port, connections, keys: 100, key, bodyBytes: 1024, ...order });
}

async function measured(stand, order) {
  const { envoy, service } = stand;
  const read = () => [cpuMicros(envoy.pid), service === null ? null : cpuMicros(service.pid)];
  const [envoyBefore, serviceBefore] = read();
  const { sent, failed, split, p50Ms } = await ask(stand, order);
  const [envoyAfter, serviceAfter] = read();
  return {
    sent,
    failed,
    split,
    p50Ms,
    envoyUs: (envoyAfter - envoyBefore) / sent,
    serviceUs: service === null ? null : (serviceAfter - serviceBefore) / sent,
  };
}

/** Medians over the rounds; failures add up. */
function middle(samples) {
  const sum = (of) => samples.reduce((total, sample) => total + sample[of], 0);
  const of = (name) => rounded(median(samples.map((sample) => sample[name])));
  return {
    failed: sum('failed'),
    split: sum('split'),
    p50Ms: of('p50Ms'),
    envoyUs: of('envoyUs'),
    serviceUs: of('serviceUs'),
  };
}
