/**
 * The client, a process of its own. Takes one order at a time from its parent and answers with what it saw:
 *
 * - `paced`: open loop. Requests have a schedule that no slow answer delays, and latency counts from the scheduled time.
 * - `closed`: each connection sends as soon as it has its answer.
 * - `held`: sends one request on each connection, `ramp` a second or all at once, for workers that keep them waiting.
 *
 * An order says what a request is: `key` (`none`, `header`, `rid`, `rid-last`), `bodyBytes`, `events` and `everyMs` of a streamed
 * answer, `leave` (`waiting` before the answer, `answered` when it begins) of a client that goes away. `mix` has several of
 * these, each with its `name` and its `share` of a hundred.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { chatTail } from '../lib/bodies.mjs';
import { quantile } from '../lib/stats.mjs';
import { Http1Connection } from './http1-connection.mjs';

const HOST = '127.0.0.1';
/** Past this many unanswered requests the schedule is given up: the rate cannot be held. */
const MAX_IN_FLIGHT = 2000;
/** Connections that are opened at once. */
const OPENED_AT_ONCE = 200;
/** How long a client waits that leaves before it has its answer. */
const LEAVES_AFTER_MS = 4;

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
  const tally = { sent: 0, right: 0, failed: 0, split: 0, left: 0, statuses: {}, latencies: [], late: [] };
  const pool = [];
  try {
    while (pool.length < order.connections) {
      const more = Math.min(OPENED_AT_ONCE, order.connections - pool.length);
      const opened = Array.from({ length: more }, () => new Http1Connection(order.port, HOST));
      pool.push(...opened);
      await Promise.all(opened.map((connection) => connection.opened()));
    }
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
    sendOne(kindOf(order, number), number, connection, tally, due, () => {
      unanswered -= 1;
      const next = waiting.shift();
      const usable = connection.usable ? connection : replaced(order, pool, connection);
      if (next !== undefined) begin(next, usable);
      else idle.push(usable);
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

/** Another connection in the place of one that is closed. */
function replaced(order, pool, connection) {
  const next = new Http1Connection(order.port, HOST);
  pool[pool.indexOf(connection)] = next;
  return next;
}

async function held(order, pool, tally) {
  const start = performance.now();
  const answers = [];
  for (const [number, connection] of pool.entries()) {
    const early = order.ramp === undefined ? 0 : start + (number * 1000) / order.ramp - performance.now();
    if (early > 1) await pause(early);
    answers.push(new Promise((resolve) => sendOne(order, number, connection, tally, performance.now(), resolve)));
  }
  await Promise.all(answers);
  return (performance.now() - start) / 1000;
}

const mixes = new Map();

/** The kind of a request of a mix, by shares that are spread evenly; the order itself without one. */
function kindOf(order, number) {
  if (order.mix === undefined) return order;
  let kinds = mixes.get(order.name);
  if (kinds === undefined) {
    kinds = [];
    for (const each of order.mix) {
      const kind = { ...order, ...each, name: `${order.name}-${each.name}` };
      for (let i = 0; i < each.share; i++) kinds.push({ kind, at: i / each.share });
    }
    kinds = kinds.sort((a, b) => a.at - b.at).map(({ kind }) => kind);
    mixes.set(order.name, kinds);
  }
  return kinds[number % kinds.length];
}

/** One request of conversation `number % keys`, and its place in the tally. */
function sendOne(order, number, connection, tally, due, then) {
  const key = `${order.name}-${number % order.keys}`;
  tally.sent += 1;
  const parts = requestOf(order, key, `${key}_t${Math.floor(number / order.keys)}`);
  const done = ({ status, worker }) => {
    if (order.leave !== undefined && status === 0) {
      tally.left += 1;
      then();
      return;
    }
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
  };
  connection.send(parts, done, order.leave === 'answered');
  if (order.leave === 'waiting') setTimeout(() => connection.close(), LEAVES_AFTER_MS);
}

/** Head and body; the long part of the body is the same memory for all. */
function requestOf(order, key, turn) {
  const last = order.key === 'rid-last';
  const rid = `${last ? ',' : '{'}"rid":${JSON.stringify(order.key === 'none' || order.key === 'header' ? '' : turn)}`;
  const known = `${order.bodyBytes}${last}`;
  let rest = tails.get(known);
  if (rest === undefined) {
    rest = chatTail(order.bodyBytes);
    // The same members, the first of them without its comma and the last without its brace.
    if (last) rest = Buffer.concat([Buffer.from('{'), rest.subarray(1, -1)]);
    tails.set(known, rest);
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
    `content-length: ${rid.length + rest.length + (last ? 1 : 0)}`,
  ];
  if (order.key === 'header') lines.push(`x-smg-routing-key: ${key}`);
  if (order.holdMs !== undefined) lines.push(`x-bench-hold: ${order.holdMs}`);
  if (order.events !== undefined) lines.push(`x-bench-events: ${order.events}`, `x-bench-every: ${order.everyMs ?? 0}`);
  const head = `${lines.join('\r\n')}\r\n\r\n`;
  return last ? [head, rest, `${rid}}`] : [head + rid, rest];
}

function summary(tally, seconds) {
  const { sent, right, failed, split, left, statuses } = tally;
  const latencies = Float64Array.from(tally.latencies).sort();
  const late = Float64Array.from(tally.late).sort();
  return {
    sent,
    right,
    failed,
    split,
    left,
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
