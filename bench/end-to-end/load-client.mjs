/**
 * The client, a process of its own. Takes one order at a time from its parent and answers with what it saw:
 *
 * - `paced`: open loop. Requests have a schedule that no slow answer delays, and latency counts from the scheduled time.
 * - `closed`: each connection sends as soon as it has its answer.
 * - `held`: sends one request on each connection at once, for workers that keep them waiting.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { chatTail } from '../lib/bodies.mjs';
import { quantile } from '../lib/stats.mjs';
import { Http1Connection } from './http1-connection.mjs';

const HOST = '127.0.0.1';
/** Past this many unanswered requests the schedule is given up: the rate cannot be held. */
const MAX_IN_FLIGHT = 2000;

/** Which worker each key of each variant was first served by. */
const homes = new Map();
const tails = new Map();

process.on('message', (order) => {
  run(order).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});
process.once('disconnect', () => process.exit());

async function run(order) {
  const tally = { sent: 0, right: 0, failed: 0, split: 0, statuses: {}, latencies: [], late: [] };
  const pool = [];
  try {
    for (let i = 0; i < order.connections; i++) pool.push(new Http1Connection(order.port, HOST));
    await Promise.all(pool.map((connection) => connection.opened()));
    const runs = { paced, closed, held };
    const seconds = await runs[order.kind](order, pool, tally);
    return summary(tally, seconds);
  } finally {
    for (const connection of pool) connection.close();
  }
}

async function paced(order, pool, tally) {
  const { rate, seconds } = order;
  const count = Math.round(rate * seconds);
  const intervalMs = 1000 / rate;
  const wallStart = performance.timeOrigin + performance.now() + 100;
  const start = wallStart - performance.timeOrigin;
  const idle = [...pool];
  const waiting = [];
  let unanswered = 0;
  let answered = () => undefined;
  const all = new Promise((resolve) => {
    answered = resolve;
  });
  const begin = (number, connection) => {
    const due = start + number * intervalMs;
    tally.late.push(performance.now() - due);
    sendOne(order, number, connection, tally, due, () => {
      unanswered -= 1;
      const next = waiting.shift();
      if (next !== undefined) begin(next, connection);
      else idle.push(connection);
      if (unanswered === 0 && tally.sent === count) answered();
    });
  };
  const workerData = { startAt: wallStart, intervalMs, count };
  const pacer = new Worker(new URL('pacer.mjs', import.meta.url), { workerData });
  pacer.on('message', (number) => {
    unanswered += 1;
    if (unanswered > MAX_IN_FLIGHT) throw new Error(`${rate} requests a second cannot be held`);
    const connection = idle.pop();
    if (connection === undefined) waiting.push(number);
    else begin(number, connection);
  });
  await once(pacer, 'exit');
  await all;
  return (performance.now() - start) / 1000;
}

async function closed(order, pool, tally) {
  const start = performance.now();
  const end = start + order.seconds * 1000;
  let number = 0;
  await Promise.all(
    pool.map(
      (connection) =>
        new Promise((resolve) => {
          const next = () => {
            const now = performance.now();
            if (now >= end || !connection.usable) resolve();
            else sendOne(order, number++, connection, tally, now, next);
          };
          next();
        }),
    ),
  );
  return (performance.now() - start) / 1000;
}

async function held(order, pool, tally) {
  const start = performance.now();
  const answers = pool.map(
    (connection, number) =>
      new Promise((resolve) => sendOne(order, number, connection, tally, performance.now(), resolve)),
  );
  await Promise.all(answers);
  return (performance.now() - start) / 1000;
}

/** One request of conversation `number % keys`, and its place in the tally. */
function sendOne(order, number, connection, tally, due, then) {
  const key = `${order.name}-${number % order.keys}`;
  tally.sent += 1;
  connection.send(requestOf(order, key, `${key}_t${Math.floor(number / order.keys)}`), ({ status, worker }) => {
    tally.latencies.push(performance.now() - due);
    tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
    if (status !== 200) tally.failed += 1;
    else if (order.key === 'none') tally.right += 1;
    else {
      const home = homes.get(key);
      if (home === undefined) homes.set(key, worker);
      if (home === undefined || home === worker) tally.right += 1;
      else tally.split += 1;
    }
    then();
  });
}

/** Head and body; the long part of the body is the same memory for all. */
function requestOf(order, key, turn) {
  const rid = `{"rid":${JSON.stringify(order.key === 'rid' ? turn : '')}`;
  let tail = tails.get(order.bodyBytes);
  if (tail === undefined) {
    tail = chatTail(order.bodyBytes);
    tails.set(order.bodyBytes, tail);
  }
  const lines = [
    'POST /v1/chat/completions HTTP/1.1',
    `host: ${HOST}:${order.port}`,
    'accept: application/json',
    'content-type: application/json',
    'user-agent: OpenAI/JS 5.0.0',
    'x-stainless-lang: js',
    'x-stainless-os: Linux',
    'x-stainless-runtime: node',
    `x-request-id: ${turn}`,
    `content-length: ${rid.length + tail.length}`,
  ];
  if (order.key === 'header') lines.push(`x-smg-routing-key: ${key}`);
  if (order.holdMs !== undefined) lines.push(`x-bench-hold: ${order.holdMs}`);
  return [`${lines.join('\r\n')}\r\n\r\n${rid}`, tail];
}

function summary(tally, seconds) {
  const { sent, right, failed, split, statuses } = tally;
  const latencies = Float64Array.from(tally.latencies).sort();
  const late = Float64Array.from(tally.late).sort();
  return {
    sent,
    right,
    failed,
    split,
    statuses,
    seconds,
    p50Ms: quantile(latencies, 0.5),
    p90Ms: quantile(latencies, 0.9),
    p99Ms: quantile(latencies, 0.99),
    maxMs: quantile(latencies, 1),
    lateP50Ms: quantile(late, 0.5),
    lateP99Ms: quantile(late, 0.99),
  };
}
