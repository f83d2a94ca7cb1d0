/**
 * ext_proc beside ext_authz: what one request costs this process, our HTTP/2 included, by each header that is a hint.
 * The client that plays Envoy has a process of its own. Both protocols take turns, so that a machine that slows down slows both.
 */
import { fork } from 'node:child_process';
import { own } from '../lib/own.mjs';
import { median, rounded } from '../lib/stats.mjs';
import { checkMessage, createWorld, headersMessage } from './world.mjs';

const { http2Transport } = await import('../../dist/transport/http2/http2-transport.js');

const WORKERS = 30;
/** Requests of one order; each is another conversation. */
const REQUESTS = 1000;
const CONCURRENCY = 32;
const WARM_UP_ORDERS = 5;
/** An order takes about as long as ten rounds of a case in memory. */
const ORDERS_OF_ROUND = 3;

const OVERRIDE = { SMG_POLICY: 'round_robin', SMG_ROUTING_KEY_OVERRIDE: 'true', SMG_ROUTING_KEY_ORDER: 'header-first' };
const HINTS = [
  { hint: 'x-smg-routing-key', env: OVERRIDE, value: (i) => `known-${i}_t3` },
  { hint: 'x-smg-routing-tokens', env: { SMG_POLICY: 'cache_aware' }, value: tokens },
  { hint: 'x-smg-target-worker', env: { SMG_POLICY: 'consistent_hashing' }, value: (i) => `${i % WORKERS}` },
];
const PROTOCOLS = [
  { name: 'ext_proc', path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process', message: headersMessage },
  { name: 'ext_authz', path: '/envoy.service.auth.v3.Authorization/Check', message: checkMessage },
];

export async function measureProtocols({ rounds }) {
  const client = own(fork(new URL('./protocols-client.mjs', import.meta.url), { serialization: 'advanced' }));
  const rows = [];
  for (const each of HINTS) rows.push(await measureHint(each, client, rounds));
  client.disconnect();
  return rows;
}

async function measureHint({ hint, env, value }, client, rounds) {
  const world = createWorld(WORKERS, env);
  const transport = http2Transport([world.extProc, world.extAuthz], {
    maxReceiveBytes: 1 << 26,
    onHandlerError: (_, error) => {
      throw error;
    },
  });
  const address = await transport.listen({ host: '127.0.0.1', port: 0 });
  const orders = PROTOCOLS.map(({ path, message }) => ({
    url: `http://${address}`,
    path,
    messages: Array.from({ length: REQUESTS }, (_, i) => message({ [hint]: value(i) })),
    concurrency: CONCURRENCY,
  }));
  const played = async (order) => {
    const before = process.cpuUsage();
    client.send(order);
    const { failed } = await new Promise((resolve) => client.once('message', resolve));
    if (failed > 0) throw new Error(`${failed} calls failed`);
    const { user, system } = process.cpuUsage(before);
    world.endAll();
    return (user + system) / REQUESTS;
  };

  for (let i = 0; i < WARM_UP_ORDERS; i++) for (const order of orders) await played(order);
  const micros = orders.map(() => []);
  const ratios = [];
  for (let round = 0; round < rounds * ORDERS_OF_ROUND; round++) {
    for (const [i, order] of orders.entries()) micros[i].push(await played(order));
    ratios.push(micros[1].at(-1) / micros[0].at(-1));
  }
  await transport.close();
  return {
    hint,
    extProcMicros: rounded(median(micros[0])),
    extAuthzMicros: rounded(median(micros[1])),
    ratio: rounded(median(ratios)),
  };
}

/** 64 ids: half shared by all, half of the conversation's own. */
function tokens(i) {
  return Array.from({ length: 64 }, (_, at) => (at < 32 ? at : i * 100 + at)).join(',');
}
