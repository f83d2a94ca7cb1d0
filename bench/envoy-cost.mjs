/**
 * What each part of the generated configuration costs inside Envoy: one Envoy per variant, all asking one service, in
 * interleaved rounds. The figure is processor time per request, which other work on the machine moves less than throughput.
 *
 *     ENVOY_BIN=… node bench/envoy-cost.mjs [--rounds 5] [--seconds 2] [--rate 500] [--out FILE]
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'yaml';
import { startClient, startWorkers } from './end-to-end/client.mjs';
import { withoutUs } from './end-to-end/plain-envoy.mjs';
import { configuration, startEnvoy, versionOf } from './end-to-end/stack.mjs';
import { partsOf, VARIANTS } from './envoy-cost/variants.mjs';
import { cpuMs, cpuMicros as cpuUs } from './lib/proc.mjs';
import { startService } from './lib/service.mjs';

const { freePort } = await import('../dist/demo/ports.js');
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    rate: { type: 'string', default: '500' },
    out: { type: 'string' },
  },
});
const [rounds, seconds, rate] = [values.rounds, values.seconds, values.rate].map(Number);
const binary = process.env.ENVOY_BIN;
if (binary === undefined) throw new Error('ENVOY_BIN names no Envoy');

const workers = await startWorkers(4);
const flags = ['--worker-urls', ...workers.urls];
// A key in a header decides alone: the service never asks for a body.
const keyed = ['--policy', 'round_robin', '--routing-key-override', '--routing-key-order', 'header-first'];
const service = await startService([...flags, ...keyed]);
const client = startClient();
const stands = [];
try {
  for (const name of ['plain', ...Object.keys(VARIANTS)]) {
    const port = await freePort('127.0.0.1');
    const given = ['--listen', `127.0.0.1:${port}`, '--picker', service.grpc];
    let yaml;
    if (name === 'plain') yaml = withoutUs(configuration([...given, '--static-workers', ...flags]));
    else {
      const bootstrap = parse(configuration([...given, ...flags, ...keyed]));
      try {
        VARIANTS[name](partsOf(bootstrap));
      } catch (error) {
        console.error(`${name}: left out, ${error.message}`);
        continue;
      }
      yaml = stringify(bootstrap, { aliasDuplicateObjects: false });
    }
    stands.push({ name, port, envoy: await startEnvoy(binary, yaml, port), closed: [], paced: [] });
  }
  for (let round = 0; round <= rounds; round++) {
    for (const stand of round % 2 === 0 ? stands : stands.toReversed()) {
      for (const kind of rate > 0 ? ['closed', 'paced'] : ['closed']) {
        const sample = await measure(stand, kind);
        if (round > 0) stand[kind].push(sample);
      }
    }
  }
  const rows = stands.map(({ name, closed, paced }) => ({ name, closed: middle(closed), paced: middle(paced) }));
  console.table(
    rows.map(({ name, closed, paced }) => ({
      name,
      envoyUs: closed.envoyUs,
      serviceUs: closed.serviceUs,
      failed: closed.failed,
      split: closed.split,
      ticksUs: closed.ticksUs,
      pacedEnvoyUs: paced?.envoyUs,
      pacedP50Ms: paced?.p50Ms,
    })),
  );
  const report = {
    date: new Date().toISOString(),
    envoy: versionOf(binary),
    node: process.version,
    rounds,
    seconds,
    rate,
  };
  if (values.out !== undefined) {
    writeFileSync(
      values.out,
      `${JSON.stringify({ ...report, rows, samples: stands.map(({ name, closed, paced }) => ({ name, closed, paced })) }, null, 2)}\n`,
    );
  }
} finally {
  client.stop();
  for (const { envoy } of stands) await envoy.stop();
  await service.stop();
  workers.stop();
}

async function measure({ name, port, envoy }, kind) {
  const before = [cpuUs(envoy.pid), cpuUs(service.pid), cpuMs(envoy.pid) * 1000];
  const connections = 32;
  const order = {
    name,
    kind,
    port,
    connections,
    seconds,
    rate,
    keys: 100,
    key: name === 'plain' ? 'none' : 'header',
    bodyBytes: 1024,
  };
  const { sent, failed, split, p50Ms } = await client.ask(order);
  const per = (pid, from) => (cpuUs(pid) - from) / sent;
  const ticks = cpuMs(envoy.pid) * 1000 - before[2];
  return {
    sent,
    failed,
    split,
    p50Ms,
    ticksUs: ticks / sent,
    envoyUs: per(envoy.pid, before[0]),
    serviceUs: per(service.pid, before[1]),
  };
}

/** Medians over the rounds; failures add up. */
function middle(samples) {
  if (samples.length === 0) return null;
  const median = (of) =>
    Number(
      samples
        .map(of)
        .sort((a, b) => a - b)
        [Math.floor(samples.length / 2)].toFixed(3),
    );
  return {
    ticksUs: median(({ ticksUs }) => ticksUs),
    split: samples.reduce((sum, { split }) => sum + split, 0),
    envoyUs: median(({ envoyUs }) => envoyUs),
    serviceUs: median(({ serviceUs }) => serviceUs),
    p50Ms: median(({ p50Ms }) => p50Ms),
    failed: samples.reduce((sum, { failed }) => sum + failed, 0),
  };
}
